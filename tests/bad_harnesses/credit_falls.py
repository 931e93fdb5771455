"""The way to the goal earns credit that the next act takes away again."""

from typing import Any

from sound import BUY, COUNT, ITEM, label, open_item, pantry, put_on_list

from uigym.types import Episode, Row, Verdict
from uigym.verifiers.state import added, unchanged
from uigym.verify import Verifier, all_of, any_of

bad = pantry()


@bad.task(BUY, max_steps=12)
def buy(count: int = COUNT, item: Row = ITEM) -> Verifier:
    def looked(episode: Episode) -> Verdict:
        return Verdict(0.5 if episode.url.endswith(f"/items/{item['id']}") else 0.0, False)

    line = added("wanted", item=label(item), quantity=count)
    return any_of(looked, all_of(line, unchanged(except_=[line, "log"])))


@buy.oracle
async def _(page: Any, count: int, item: Row) -> None:
    await open_item(page, item)
    await page.get_by_role("link", name="Pantry").click()
    await put_on_list(page, count, item)
