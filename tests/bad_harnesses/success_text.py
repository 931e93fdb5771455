"""The word "success" is looked for in the data, where the agent can write it, too."""

from sound import BUY, COUNT, ITEM, pantry, put_on_list

from uigym.types import Episode, Row, Verdict
from uigym.verify import Verifier, check

bad = pantry()


@bad.task(BUY, max_steps=10)
def buy(count: int = COUNT, item: Row = ITEM) -> Verifier:
    def succeeded(episode: Episode) -> Verdict:
        said = [str(row).lower() for rows in episode.after.tables.values() for row in rows]
        return check("succeeded", any("success" in text for text in said), "expected a success")

    return succeeded


buy.oracle(put_on_list)
