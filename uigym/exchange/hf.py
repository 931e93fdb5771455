"""Hugging Face Parquet: a row for each step, with its screenshot, its action in uigym's own words and its worth."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import Any

from uigym.exchange.calls import own
from uigym.exchange.conversation import tell
from uigym.exchange.demonstration import Demonstration, Taken
from uigym.exchange.formats import Options, Wording, Write
from uigym.exchange.tables import IMAGE, NUMBER, TEXT, TRUTH, WHOLE, Table, picture, table_rows
from uigym.exchange.told import Told, ToldStep, screen_of
from uigym.types import Invalid, action_to_json

COLUMNS = {
    "id": TEXT, "task": TEXT, "seed": WHOLE, "split": TEXT, "instruction": TEXT, "step": WHOLE, "steps": WHOLE, "image": IMAGE, "told": TEXT,
    "action": TEXT, "text": TEXT, "error": TEXT, "width": WHOLE, "height": WHOLE, "scale": NUMBER, "by": TEXT, "way": TEXT, "stop": TEXT,
    "reward": NUMBER, "success": TRUTH, "counts": TRUTH,
}  # fmt: skip


@contextmanager
def writing(out: Path, options: Options, wording: Wording) -> Iterator[Write]:
    """Writes `out`/data/SPLIT-NNNNN.parquet."""
    with Table(out, COLUMNS) as table:

        def write(demonstration: Demonstration) -> None:
            about = demonstration.about()
            for taken in demonstration.steps():
                png = demonstration.store.image(taken.record.image)
                table.write(demonstration.split, {**about, **_row(demonstration, taken, png)}, len(png))

        yield write


def _row(demonstration: Demonstration, taken: Taken, png: bytes) -> dict[str, Any]:
    return {
        "step": taken.index,
        "steps": len(demonstration.episode.steps),
        "image": picture(png, taken.record.image),
        "told": taken.told,
        "action": json.dumps(action_to_json(taken.action), ensure_ascii=False),
        "text": taken.record.text,
        "error": taken.record.error,
    }


def read(path: Path) -> Iterator[Told]:
    """The demonstrations of such a file or folder; rows of one demonstration stand together."""
    for _, rows in groupby(table_rows(path), key=lambda row: row["id"]):
        found = list(rows)
        steps = [_step(row) for row in found]
        about = {key: value for key, value in found[0].items() if key != "image"}
        yield tell(about, screen_of(about, steps[0].png), steps)


def _step(row: dict[str, Any]) -> ToldStep:
    said = json.loads(row["action"])
    action = own(said.pop("action", None), said) or Invalid(row["action"][:500], "no action of uigym")
    return ToldStep(action, row["image"]["bytes"], row["text"] or "")
