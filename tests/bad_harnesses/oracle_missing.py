"""Nothing shows that the task can be done at all."""

from sound import ITEM, PRICE, pantry

from uigym.types import Row
from uigym.verifiers.answer import equals
from uigym.verify import Verifier

bad = pantry()


@bad.task(PRICE, max_steps=4)
def price(item: Row = ITEM) -> Verifier:
    return equals(item["price"])
