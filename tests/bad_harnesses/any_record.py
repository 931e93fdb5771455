"""Something has to be moved to the shelf, no matter what."""

from sound import ELSEWHERE, MOVE, SHELF, pantry, put_on_shelf

from uigym.state import differences
from uigym.types import Episode, Row, Verdict
from uigym.verifiers.state import unchanged
from uigym.verify import Verifier, all_of, check

bad = pantry()


@bad.task(MOVE, max_steps=8)
def move(shelf: str = SHELF, item: Row = ELSEWHERE) -> Verifier:
    def moved(episode: Episode) -> Verdict:
        rows = [each.after or {} for each in differences(episode.before, episode.after) if each.table == "items"]
        return check("moved", [row.get("shelf") for row in rows] == [shelf], f"expected one item on the {shelf}")

    return all_of(moved, unchanged(except_=["items", "log"]))


move.oracle(put_on_shelf)
