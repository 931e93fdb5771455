"""The verifier cannot cope with an answer that is no number."""

from sound import ITEM, PRICE, look_up_price, pantry

from uigym.types import Row
from uigym.verify import Verifier, check

bad = pantry()


@bad.task(PRICE, max_steps=4)
def price(item: Row = ITEM) -> Verifier:
    return lambda episode: check("answer", float(episode.answer or 0) == float(item["price"]), "another price")


price.oracle(look_up_price)
