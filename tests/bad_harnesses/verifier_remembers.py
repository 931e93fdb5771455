"""The verifier pays an answer once: it remembers what it has paid."""

from sound import ITEM, PRICE, look_up_price, pantry

from uigym.types import Episode, Row, Verdict
from uigym.verify import Verifier, check

bad = pantry()
paid = set[tuple[str, str]]()


@bad.task(PRICE, max_steps=4)
def price(item: Row = ITEM) -> Verifier:
    def first_time(episode: Episode) -> Verdict:
        right = episode.answer == item["price"] and (episode.id, episode.policy) not in paid
        if right:
            paid.add((episode.id, episode.policy))
        return check("answer", right, f"expected {item['price']}, for the first time")

    return first_time


price.oracle(look_up_price)
