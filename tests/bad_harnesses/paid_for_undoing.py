"""An entry in the log is paid, whatever became of the work afterwards."""

from sound import ELSEWHERE, MOVE, SHELF, pantry, put_on_shelf

from uigym.types import Row
from uigym.verifiers.state import added, unchanged
from uigym.verify import Verifier, all_of

bad = pantry()


@bad.task(MOVE, max_steps=8)
def move(shelf: str = SHELF, item: Row = ELSEWHERE) -> Verifier:
    entry = added("log", what=f"moved {item['id']} to {shelf}: success")
    return all_of(entry, unchanged(except_=[entry, ("items", item["id"])]))


move.oracle(put_on_shelf)
