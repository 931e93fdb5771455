"""The verifier wants cents, where the product shows dollars: the right answer is refused."""

from sound import ITEM, PRICE, look_up_price, pantry

from uigym.types import Row
from uigym.verifiers.answer import equals
from uigym.verify import Verifier

bad = pantry()


@bad.task(PRICE, max_steps=4)
def price(item: Row = ITEM) -> Verifier:
    return equals(int(item["price"].replace(".", "")))


price.oracle(look_up_price)
