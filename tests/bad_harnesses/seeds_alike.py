"""Every seed gives the same data and the same parameters."""

import asyncio
from collections.abc import Mapping

from pantry_product import write
from sound import look_up_price, pantry

from uigym.harness import Running
from uigym.params import rows
from uigym.types import Row
from uigym.verifiers.answer import equals
from uigym.verify import Verifier


async def reset(product: Running, seed: int, appearance: Mapping[str, str]) -> None:
    await asyncio.to_thread(write, product.workdir / "pantry.db", 7)


bad = pantry(reset=reset)


@bad.task("What does one {item[brand]} {item[name]} cost?", max_steps=4)
def price(item: Row = rows("items", where={"id": 3})) -> Verifier:
    return equals(item["price"])


price.oracle(look_up_price)
