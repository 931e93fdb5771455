"""The instruction does not say where to."""

from sound import ELSEWHERE, SHELF, pantry, put_on_shelf

from uigym.types import Row
from uigym.verifiers.state import changed, unchanged
from uigym.verify import Verifier, all_of

bad = pantry()


@bad.task("Move the {item[brand]} {item[name]} to another shelf.", max_steps=8)
def move(shelf: str = SHELF, item: Row = ELSEWHERE) -> Verifier:
    moved = changed("items", key=item["id"], shelf=shelf)
    return all_of(moved, unchanged(except_=[moved, "log"]))


move.oracle(put_on_shelf)
