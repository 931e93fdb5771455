"""One of two wordings does not say how many."""

from sound import BUY, COUNT, ITEM, label, pantry, put_on_list

from uigym.types import Row
from uigym.verifiers.state import added, unchanged
from uigym.verify import Verifier, all_of

bad = pantry()


@bad.task(BUY, "We need {item[brand]} {item[name]}: write it on the list.", max_steps=10)
def buy(count: int = COUNT, item: Row = ITEM) -> Verifier:
    line = added("wanted", item=label(item), quantity=count)
    return all_of(line, unchanged(except_=[line, "log"]))


buy.oracle(put_on_list)
