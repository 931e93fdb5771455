"""With some seeds there is nothing of which the pantry holds five."""

from sound import PRICE, look_up_price, pantry

from uigym.params import rows
from uigym.types import Row
from uigym.verifiers.answer import equals
from uigym.verify import Verifier

bad = pantry()


@bad.task(PRICE, max_steps=4)
def price(item: Row = rows("items", where={"quantity": 5})) -> Verifier:
    return equals(item["price"])


price.oracle(look_up_price)
