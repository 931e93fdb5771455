"""Every page but the first is taken for the goal: a click anywhere does it."""

from sound import ITEM, open_item, pantry

from uigym.types import Row
from uigym.verify import Verifier, check

bad = pantry()


@bad.task("Open {item[brand]} {item[name]}.", max_steps=4)
def open_it(item: Row = ITEM) -> Verifier:
    return lambda episode: check("opened", len(episode.steps) > 1, "expected an act")


open_it.oracle(open_item)
