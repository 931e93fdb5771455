"""The harness of a product that breaks in every way, and where its buttons are."""

from __future__ import annotations

from pathlib import Path

from uigym.harness import Harness
from uigym.product import Snapshot, Sqlite
from uigym.types import Click, Episode, Verdict
from uigym.verify import Verifier, check

PRODUCT = Path(__file__).resolve().with_name("frail_product.py")
ADD = Click(30, 10)


def button(name: str) -> Click:
    """The click on a fault's button."""
    faults = PRODUCT.read_text().split("FAULTS = (")[1].split(")")[0]
    place = [word.strip('"') for word in faults.replace(",", " ").split()].index(name)
    return Click(32 + 64 * (place % 4), 30 + 20 * (place // 4))


frail = Harness(
    name="frail",
    start=f"{{python}} -I '{PRODUCT}' {{port}} {{workdir}}",
    state=Sqlite("{workdir}/notes.db"),
    reset=Snapshot("{workdir}/notes.db"),
    viewport=(256, 160),
    ready_timeout_s=20,
)


@frail.task("Add two notes.", max_steps=9)
def two() -> Verifier:
    def verify(episode: Episode) -> Verdict:
        found = len(episode.after.tables["notes"])
        return check("two notes", found == 2, f"expected 2 notes, found {found}")

    return verify
