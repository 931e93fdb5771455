"""The right answer is looked for anywhere in what the agent says: a list of all prices is paid."""

from sound import ITEM, PRICE, look_up_price, pantry

from uigym.types import Row
from uigym.verify import Verifier, check

bad = pantry()


@bad.task(PRICE, max_steps=4)
def price(item: Row = ITEM) -> Verifier:
    return lambda episode: check("answer", item["price"] in (episode.answer or ""), f"expected {item['price']}")


price.oracle(look_up_price)
