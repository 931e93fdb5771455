"""Arguments and options that several commands take, and how their text is read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from uigym import registry
from uigym.errors import ConfigError, HarnessError
from uigym.harness import SPLIT_SIZE, Harness, Split, Task

HarnessRef: TypeAlias = Annotated[
    str, typer.Argument(metavar="HARNESS", help="Id (kiosk), file (./crm.py) or file:name (./crm.py:crm).")
]
TaskRef: TypeAlias = Annotated[
    str, typer.Argument(metavar="HARNESS[/TASK]", help="A harness, or one of its tasks: kiosk/order.")
]
Seeds: TypeAlias = Annotated[str, typer.Option(metavar="A:B", help="Seeds A to B-1 of the split; or one seed: 7.")]
SplitName: TypeAlias = Annotated[Split, typer.Option(help="Which set of seeds, wordings and looks.")]
Slots: TypeAlias = Annotated[int, typer.Option(min=1, help="Episodes at once.")]
Takeover: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--allow-takeover", help="A person who looks on by `uigym view` may go on in the policy's place; with --out."
    ),
]
AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="Print the result as JSON, for scripts.")]
OutFolder: TypeAlias = Annotated[Path, typer.Option("--out", help="Folder to write to; made if it is not there.")]
KeepIn: TypeAlias = Annotated[
    Path | None, typer.Option("--out", help="Keep the episodes there; without it they are not kept.")
]


def parse_seeds(text: str, split: Split) -> list[int]:
    """The seeds that "A:B" or "A" means in a split.

    Raises:
        ConfigError: The text is no such range, or the range is empty or leaves the split.

    Example:
        >>> parse_seeds("3:6", Split.TRAIN), parse_seeds("0", Split.HELDOUT)
        ([3, 4, 5], [2000000])
    """
    first, colon, last = text.partition(":")
    try:
        start = int(first)
        stop = int(last) if colon else start + 1
    except ValueError:
        raise ConfigError(f'--seeds "{text}": expected a range such as 0:10, or one seed such as 7') from None
    if not 0 <= start < stop <= SPLIT_SIZE:
        raise ConfigError(f'--seeds "{text}": expected A:B with 0 <= A < B <= {SPLIT_SIZE}')
    return [split.seed(index) for index in range(start, stop)]


def find_tasks(ref: str) -> tuple[Harness, Sequence[Task]]:
    """The harness of "HARNESS" or "HARNESS/TASK", and the tasks that are meant.

    Raises:
        HarnessError: There is no such harness or task; the text has the nearest name.
    """
    head, name = _parted(ref)
    harness = registry.load(head)
    if not harness.tasks:
        raise HarnessError(f"{head} defines no task; add one with @{harness.name}.task(...)")
    return harness, [harness.find_task(name)] if name else list(harness.tasks.values())


def harness_ref(ref: str) -> str:
    """What "HARNESS" or "HARNESS/TASK" says of the harness.

    Example:
        >>> harness_ref("kiosk/order"), harness_ref("./crm.py:crm/add_deal")
        ('kiosk', './crm.py:crm')
    """
    return _parted(ref)[0]


def _parted(ref: str) -> tuple[str, str | None]:
    """The harness, and the task if one is named."""
    file = re.fullmatch(r"(.*\.py(?::[\w-]+)?)(?:/([\w-]+))?", ref)
    if file:
        return file[1], file[2]
    if "/" in ref and ref not in registry.names() and not Path(ref).is_dir():
        head, _, name = ref.rpartition("/")
        return head, name
    return ref, None
