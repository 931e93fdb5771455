"""Of an answer with several values any may be the right one."""

import re

from sound import ITEM, PRICE, look_up_price, pantry

from uigym.compare import same
from uigym.types import Episode, Row, Verdict
from uigym.verify import Verifier, check

bad = pantry()


@bad.task(PRICE, max_steps=4)
def price(item: Row = ITEM) -> Verifier:
    def verify(episode: Episode) -> Verdict:
        values = re.split(r",|\n| or ", episode.answer or "")
        return check("answer", any(same(item["price"], value) for value in values), f"expected {item['price']}")

    return verify


price.oracle(look_up_price)
