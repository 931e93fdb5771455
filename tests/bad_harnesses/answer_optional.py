"""No answer is taken for the right answer: doing nothing is paid."""

from sound import ITEM, PRICE, look_up_price, pantry

from uigym.types import Row
from uigym.verify import Verifier, check

bad = pantry()


@bad.task(PRICE, max_steps=4)
def price(item: Row = ITEM) -> Verifier:
    return lambda episode: check("answer", (episode.answer or item["price"]) == item["price"], "another price")


price.oracle(look_up_price)
