"""What a format is: how demonstrations are written in it and read from it."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, TypeAlias

from uigym.errors import ConfigError, StoreError, attribute
from uigym.exchange.demonstration import Demonstration, Taken
from uigym.exchange.told import Told
from uigym.exchange.words import Said, Unsayable, say
from uigym.store import RunStore


@dataclass(slots=True)
class Exported:
    """What came of an export."""

    demonstrations: int = 0
    """Written."""
    steps: int = 0
    """Actions in them."""
    nearly: Counter[str] = field(default_factory=Counter)
    """Actions that the format holds only nearly, by what it changes."""
    left_out: Counter[str] = field(default_factory=Counter)
    """Episodes that were not written, by why."""


@dataclass(frozen=True, slots=True)
class Options:
    """How demonstrations are written."""

    codec: str = "qwen3"
    """Of the words that the assistant says, in the formats for trainers: one of `uigym.policy.codecs.CODECS`."""
    context: str = "window(3)"
    """How many screenshots a row of those formats holds, as run files say it: "window(k)" is a row for each action,
    "full" one for each demonstration."""
    exact: bool = False
    """Leave out demonstrations with an action that the format holds only nearly."""
    everything: bool = False
    """Write failures and what was never proven too."""


Write: TypeAlias = Callable[[Demonstration], None]


@dataclass(frozen=True, slots=True)
class Format:
    """One format."""

    what: str
    """In a line, for people."""
    writing: Callable[[Path, Options, Wording], AbstractContextManager[Write]]
    """(folder, options, wording) -> a context in which demonstrations are written, one after the other."""
    reader: Callable[[Path], Iterator[Told]]

    def read(self, path: Path) -> Iterator[Told]:
        """The demonstrations of a file or folder of this format.

        Raises:
            ConfigError: There is no such file, or it leaves out what its coordinates need.
            StoreError: It cannot be read, or is of another format.
        """
        with attribute(StoreError, f"{path} cannot be read as this format: {self.what}"):
            yield from self.reader(path)


class Wording:
    """Says actions in a family's words, and counts what they do not hold."""

    def __init__(self, *, exact: bool = False):
        self.exact = exact
        self.nearly: Counter[str] = Counter()

    def say(self, codec: str, taken: Taken) -> Any:
        """The words for a step's action.

        Raises:
            Unsayable: There are none, or only nearly and that is not wanted.
        """
        said: Said = say(codec, taken.action, taken.screen)
        if said.nearly and self.exact:
            raise Unsayable(said.nearly)
        if said.nearly:
            self.nearly[said.nearly] += 1
        return said.words


class Lines:
    """Files of JSON lines in a folder, opened when something is written to them."""

    def __init__(self, folder: Path):
        self.folder = folder
        self._files: dict[str, IO[str]] = {}
        self._stack = ExitStack()

    def __enter__(self) -> Lines:
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def write(self, name: str, record: Mapping[str, Any]) -> None:
        """Add a line to the file with this name."""
        if name not in self._files:
            self._files[name] = self._stack.enter_context((self.folder / name).open("w", encoding="utf-8"))
        self._files[name].write(json.dumps(record, ensure_ascii=False) + "\n")


class Pictures:
    """The folder `images` of an export: each picture once, by its hash."""

    def __init__(self, folder: Path):
        self.folder = folder
        (folder / "images").mkdir(parents=True, exist_ok=True)

    def put(self, store: RunStore, name: str) -> str:
        """Copy a stored picture, and give its path from the export's folder."""
        path = self.folder / "images" / f"{name}.png"
        if not path.exists():
            path.write_bytes(store.image(name))
        return f"images/{name}.png"


def export(
    store: RunStore, ids: list[str] | None, chosen: Format, out: Path, options: Options | None = None
) -> Exported:
    """Write demonstrations of a run folder in another format.

    Args:
        store: The run.
        ids: Of the episodes; None is all that are complete.
        chosen: The format, from `FORMATS`.
        out: Folder to write; it must be empty or not exist, and comes into being whole or not at all.
        options: How.

    Raises:
        ConfigError: The folder is not empty, or no episode is a demonstration that the format can hold.
        StoreError: A file is damaged, or the folder cannot be written.
        MissingExtra: The format needs a package that is not installed.
    """
    options = options or Options()
    draft = out.with_name(f".{out.name}.draft")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise ConfigError(f"{out} is there already and not empty. Name another folder, or remove it.")
    with attribute(StoreError, f"cannot write {out}"):
        try:
            shutil.rmtree(draft, ignore_errors=True)
            draft.mkdir(parents=True)
            exported = _write_all(store, ids if ids is not None else store.ids(), chosen, draft, options)
            with suppress(FileNotFoundError):
                out.rmdir()
            draft.rename(out)
            return exported
        finally:
            shutil.rmtree(draft, ignore_errors=True)


def _write_all(store: RunStore, ids: list[str], chosen: Format, out: Path, options: Options) -> Exported:
    exported, wording = Exported(), Wording(exact=options.exact)
    with chosen.writing(out, options, wording) as write:
        for name in ids:
            demonstration = Demonstration.read(store, name)
            why = demonstration.refusal(everything=options.everything)
            before = wording.nearly.copy()
            try:
                if not why:
                    write(demonstration)
            except Unsayable as exc:
                why, wording.nearly = str(exc), before
            if why:
                exported.left_out[why] += 1
            else:
                exported.demonstrations += 1
                exported.steps += len(demonstration.episode.steps)
    exported.nearly = wording.nearly
    if not exported.demonstrations:
        reasons = "; ".join(f"{count} x {why}" for why, count in exported.left_out.most_common(5))
        raise ConfigError(f"nothing to export from {store.directory}: {reasons or 'it has no complete episode'}")
    return exported
