"""The item may stand where it is wanted from the start, and nothing has to change."""

from sound import ITEM, pantry, put_on_shelf

from uigym.params import computed
from uigym.types import Episode, Row, Verdict
from uigym.verify import Verifier, check

bad = pantry()


@bad.task("The {item[brand]} {item[name]} belongs into the {shelf}.", max_steps=8)
def tidy(item: Row = ITEM, shelf: str = computed(lambda state, params: params["item"]["shelf"])) -> Verifier:
    def there(episode: Episode) -> Verdict:
        found = [row["shelf"] for row in episode.after.tables["items"] if row["id"] == item["id"]]
        return check("shelf", found == [shelf], f"expected it in the {shelf}")

    return there


tidy.oracle(put_on_shelf)
