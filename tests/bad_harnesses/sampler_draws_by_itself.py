"""A parameter is drawn with the process's own random numbers, not with the seed's."""

import random

from sound import PRICE, look_up_price, pantry

from uigym.params import computed
from uigym.types import Row
from uigym.verifiers.answer import equals
from uigym.verify import Verifier

bad = pantry()
ANY: Row = computed(lambda state, params: random.choice(state.tables["items"]))


@bad.task(PRICE, max_steps=4)
def price(item: Row = ANY) -> Verifier:
    return equals(item["price"])


price.oracle(look_up_price)
