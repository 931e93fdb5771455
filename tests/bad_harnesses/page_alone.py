"""The page that is open at the end is paid, where the data should have changed."""

from typing import Any

from sound import ITEM, open_item, pantry, put_on_list

from uigym.types import Row
from uigym.verify import Verifier, check

bad = pantry()


@bad.task("Put 2 {item[brand]} {item[name]} on the shopping list, then open its page.", max_steps=12)
def buy_and_open(item: Row = ITEM) -> Verifier:
    return lambda episode: check("page", episode.url.endswith(f"/items/{item['id']}"), "expected its page")


@buy_and_open.oracle
async def _(page: Any, item: Row) -> None:
    await put_on_list(page, 2, item)
    await open_item(page, item)
