"""The instruction asks for two things, and the verifier for one of them."""

from typing import Any

from sound import ELSEWHERE, SHELF, pantry, put_on_list, put_on_shelf

from uigym.types import Row
from uigym.verifiers.state import changed, unchanged
from uigym.verify import Verifier, all_of

bad = pantry()


@bad.task("Put 2 {item[brand]} {item[name]} on the list, and move it to the {shelf}.", max_steps=14)
def buy_and_move(shelf: str = SHELF, item: Row = ELSEWHERE) -> Verifier:
    moved = changed("items", key=item["id"], shelf=shelf)
    return all_of(moved, unchanged(except_=[moved, "wanted", "log"]))


@buy_and_move.oracle
async def _(page: Any, shelf: str, item: Row) -> None:
    await put_on_list(page, 2, item)
    await put_on_shelf(page, shelf, item)
