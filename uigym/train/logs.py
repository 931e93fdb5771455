"""Where the numbers of a run go: a JSONL file and a local page always, Weights & Biases on request."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from uigym.errors import ConfigError, MissingExtra, StoreError, attribute
from uigym.hold import hold
from uigym.report.gallery import Gallery
from uigym.report.training import Page, flat
from uigym.rollout import Finished

COLUMNS = ("update", "split", "task", "seed", "instruction", "reward", "success", "stop", "steps", "refused", "reason", "first", "last")  # fmt: skip
"""Of the table of episodes in wandb; the last two are screenshots."""


@dataclass(frozen=True, slots=True)
class Account:
    """Where Weights & Biases keeps the run."""

    project: str = "uigym"
    name: str | None = None
    """None lets wandb invent one."""
    mode: str = "auto"
    """online, offline, off; auto is online where an account is set, else offline."""


class Log:
    """Appends one JSON object a line to `metrics.jsonl`, flushed at once, and passes it on to wandb if asked.

    Args:
        folder: Of the run.
        loggers: Names; "wandb" adds Weights & Biases.
        config: What is being run, for wandb.
        say: Takes lines meant for a person.
        account: Of wandb.
        page: Write the page of the run, again and again.

    Raises:
        StoreError: The folder cannot be written.
    """

    def __init__(
        self,
        folder: Path,
        loggers: tuple[str, ...] = (),
        config: Mapping[str, Any] | None = None,
        say: Callable[[str], None] = print,
        *,
        account: Account = Account(),
        page: bool = False,
    ):
        with attribute(StoreError, f"cannot write into the run folder {folder}"):
            folder.mkdir(parents=True, exist_ok=True)
            self._hold = hold(folder)  # two runs in one folder would mix their rows
            self._file = (folder / "metrics.jsonl").open("ab", buffering=0)
        self._gallery = Gallery(folder)
        self._page = Page(folder) if page else None
        self._wandb = None
        if "wandb" in loggers and account.mode != "off":
            self._wandb = _wandb(folder, config or {}, account, say)

    def write(self, numbers: Mapping[str, Any]) -> None:
        """Record one row of numbers.

        Raises:
            StoreError: The disk is full.
        """
        line = json.dumps(numbers).encode() + b"\n"
        with attribute(StoreError, f"cannot write {self._file.name}"):
            if self._file.write(line) < len(line):
                raise OSError("the disk is full")
        if self._wandb is not None:
            self._wandb.log(_named(numbers))
        if self._page is not None:
            self._page.refresh()

    def episodes(self, finished: Sequence[Finished], *, update: int, split: str) -> None:
        """Keep some episodes with their screenshots: for the page, and as a table for wandb.

        Args:
            finished: Few: each costs some ten kilobytes.
            update: After how many updates they ended.
            split: Whose seeds they were played on.

        Raises:
            StoreError: The folder cannot be written.
        """
        records = [self._gallery.add(f.episode, f.images, update=update, split=split) for f in finished]
        if self._wandb is not None and records:
            rows = [_table_row(record, f) for record, f in zip(records, finished, strict=True)]
            self._wandb.log({f"episodes/{split}": _table(rows)})

    def close(self) -> None:
        """Finish the files."""
        if self._file.closed:
            return
        self._file.close()
        if self._page is not None:
            self._page.end()
        if self._wandb is not None:
            self._wandb.finish()


def few(finished: Sequence[Finished], count: int = 4) -> list[Finished]:
    """Some episodes that are worth a look: the lost, then successes and failures in turn."""

    def kind(one: Finished) -> int:
        verdict = one.episode.verdict
        return 0 if verdict is None else 1 if verdict.success else 2

    kinds = [[f for f in finished if kind(f) == wanted] for wanted in range(3)]
    rounds = [part[at] for at in range(count) for part in kinds if at < len(part)]
    return rounds[:count]


def _named(numbers: Mapping[str, Any]) -> dict[str, float]:
    """Numbers under names that keep apart what belongs to different phases."""
    phase = numbers.get("phase")
    return {key if phase in (None, "grpo") else f"{phase}/{key}": value for key, value in flat(numbers).items()}


def _table_row(record: Mapping[str, Any], finished: Finished) -> list[Any]:
    import wandb
    from PIL import Image

    pictures = [record["frames"][0]["picture"], record["frames"][-1]["picture"]] if record["frames"] else []
    shown = [wandb.Image(Image.open(io.BytesIO(finished.images[name]))) for name in pictures] or [None, None]
    return [*(record[name] for name in COLUMNS[:-2]), *shown]


def _table(rows: list[list[Any]]) -> Any:
    import wandb

    return wandb.Table(columns=list(COLUMNS), data=rows)


def import_wandb() -> Any:
    """The package wandb.

    Raises:
        MissingExtra: It is not installed.
        ConfigError: It is, but cannot be used.
    """
    try:
        import wandb

        return wandb
    except Exception as exc:
        if isinstance(exc, ModuleNotFoundError) and exc.name == "wandb":
            raise MissingExtra("wandb, which the run file asks for,", "wandb") from exc
        raise ConfigError(
            f"wandb, which the run file asks for, cannot be imported: {type(exc).__name__}: {exc}; install it again"
        ) from exc


def _wandb(folder: Path, config: Mapping[str, Any], account: Account, say: Callable[[str], None]) -> Any:
    wandb = import_wandb()
    known = os.environ.get("WANDB_API_KEY") or (Path.home() / ".netrc").exists()
    chosen = None if account.mode == "auto" else account.mode
    mode: Any = chosen or os.environ.get("WANDB_MODE") or ("online" if known else "offline")
    if mode == "offline":
        why = "no account is set, so " if chosen is None and not known else ""
        say(f"wandb: {why}the run is recorded offline in {folder / 'wandb'}; `wandb sync` uploads it.")
    return wandb.init(
        project=account.project,
        name=account.name,
        dir=str(folder),
        config=dict(config),
        mode=mode,
        settings=wandb.Settings(silent=True),
    )
