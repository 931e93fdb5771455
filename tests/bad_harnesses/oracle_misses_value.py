"""The oracle cannot do its task for one of the shelves."""

from typing import Any

from sound import ELSEWHERE, MOVE, SHELF, pantry, put_on_shelf

from uigym.types import Row
from uigym.verifiers.state import changed, unchanged
from uigym.verify import Verifier, all_of

bad = pantry()


@bad.task(MOVE, max_steps=8)
def move(shelf: str = SHELF, item: Row = ELSEWHERE) -> Verifier:
    moved = changed("items", key=item["id"], shelf=shelf)
    return all_of(moved, unchanged(except_=[moved, "log"]))


@move.oracle
async def _(page: Any, shelf: str, item: Row) -> None:
    if shelf != "freezer":
        await put_on_shelf(page, shelf, item)
