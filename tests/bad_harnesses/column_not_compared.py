"""The item has to be moved, but the shelf is not compared."""

from sound import ELSEWHERE, MOVE, SHELF, pantry, put_on_shelf

from uigym.types import Row
from uigym.verifiers.state import changed, unchanged
from uigym.verify import Verifier, all_of

bad = pantry()


@bad.task(MOVE, max_steps=8)
def move(shelf: str = SHELF, item: Row = ELSEWHERE) -> Verifier:
    moved = changed("items", key=item["id"], shelf=lambda value: value != item["shelf"])
    return all_of(moved, unchanged(except_=[moved, "log"]))


move.oracle(put_on_shelf)
