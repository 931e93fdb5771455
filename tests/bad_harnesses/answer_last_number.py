"""The last number of the answer counts, whatever stands before it: an essay of numbers is paid."""

import re

from sound import ITEM, PRICE, look_up_price, pantry

from uigym.types import Episode, Row, Verdict
from uigym.verify import Verifier, check

bad = pantry()


@bad.task(PRICE, max_steps=4)
def price(item: Row = ITEM) -> Verifier:
    def verify(episode: Episode) -> Verdict:
        numbers = re.findall(r"\d+\.\d\d", episode.answer or "")
        return check("answer", numbers[-1:] == [item["price"]], f"expected {item['price']}")

    return verify


price.oracle(look_up_price)
