"""The oracle calls the product's server by a script: nothing shows that mouse and keyboard can do the task."""

from typing import Any

from sound import BUY, COUNT, ITEM, label, pantry

from uigym.types import Row
from uigym.verifiers.state import added, unchanged
from uigym.verify import Verifier, all_of

bad = pantry()


@bad.task(BUY, max_steps=10)
def buy(count: int = COUNT, item: Row = ITEM) -> Verifier:
    line = added("wanted", item=label(item), quantity=count)
    return all_of(line, unchanged(except_=[line, "log"]))


@buy.oracle
async def _(page: Any, count: int, item: Row) -> None:
    form = {"item": label(item), "count": str(count)}
    await page.evaluate("form => fetch('/wanted', {method: 'POST', body: new URLSearchParams(form)})", form)
