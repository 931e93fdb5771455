"""Any change at all is taken for the work, so that another task's work is paid."""

from sound import ELSEWHERE, MOVE, SHELF, add_buy, pantry, put_on_shelf

from uigym.types import Row
from uigym.verify import Verifier, check

bad = pantry()


@bad.task(MOVE, max_steps=8)
def move(shelf: str = SHELF, item: Row = ELSEWHERE) -> Verifier:
    return lambda episode: check("work", episode.before != episode.after, "expected a change")


move.oracle(put_on_shelf)
add_buy(bad)
