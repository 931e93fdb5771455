"""The oracle works every second time."""

from itertools import count
from typing import Any

from sound import ITEM, PRICE, look_up_price, pantry

from uigym.types import Row
from uigym.verifiers.answer import equals
from uigym.verify import Verifier

bad = pantry()
plays = count()


@bad.task(PRICE, max_steps=4)
def price(item: Row = ITEM) -> Verifier:
    return equals(item["price"])


@price.oracle
async def _(page: Any, item: Row) -> str:
    return await look_up_price(page, item) if next(plays) % 2 else "no idea"
