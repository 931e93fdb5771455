"""The oracle needs more acts than the task says."""

from sound import ITEM, PRICE, look_up_price, pantry

from uigym.types import Row
from uigym.verifiers.answer import equals
from uigym.verify import Verifier

bad = pantry()


@bad.task(PRICE, max_steps=4, expected_steps=1)
def price(item: Row = ITEM) -> Verifier:
    return equals(item["price"])


price.oracle(look_up_price)
