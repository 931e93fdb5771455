"""One line on the list or ten of them: all are paid."""

from sound import BUY, COUNT, ITEM, label, pantry, put_on_list

from uigym.types import Episode, Row, Verdict
from uigym.verifiers.state import unchanged
from uigym.verify import Verifier, all_of, check

bad = pantry()


@bad.task(BUY, max_steps=10)
def buy(count: int = COUNT, item: Row = ITEM) -> Verifier:
    def wanted(episode: Episode) -> Verdict:
        lines = [(row["item"], row["quantity"]) for row in episode.after.tables["wanted"]]
        return check("wanted", (label(item), count) in lines, f"expected {count} {label(item)} on the list")

    return all_of(wanted, unchanged(except_=["wanted", "log"]))


buy.oracle(put_on_list)
