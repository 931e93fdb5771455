"""Whatever else was changed does not count, and no other task is there to show it."""

from sound import BUY, COUNT, ITEM, label, pantry, put_on_list

from uigym.types import Row
from uigym.verifiers.state import added
from uigym.verify import Verifier

bad = pantry()


@bad.task(BUY, max_steps=10)
def buy(count: int = COUNT, item: Row = ITEM) -> Verifier:
    return added("wanted", item=label(item), quantity=count)


buy.oracle(put_on_list)
