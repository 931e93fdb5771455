"""The instruction itself tells the answer."""

from sound import ITEM, look_up_price, pantry

from uigym.types import Row
from uigym.verifiers.answer import equals
from uigym.verify import Verifier

bad = pantry()


@bad.task("Check that one {item[brand]} {item[name]} costs ${item[price]}, and give its price.", max_steps=4)
def price(item: Row = ITEM) -> Verifier:
    return equals(item["price"])


price.oracle(look_up_price)
