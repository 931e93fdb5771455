"""A product's files as a table of its state."""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
import stat
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple
from weakref import WeakKeyDictionary

from uigym.errors import HarnessError, ProductError
from uigym.harness import Running
from uigym.product.state import located
from uigym.types import Row, State

TEXT_BYTES = 64 * 1024
"""A file that is longer has no text in the state; its sha256 tells it all the same."""
TRIES = 5
"""How often a folder is read again because the product was writing to it."""
_PAUSE_S = 0.02
_FRESH_NS = 100_000_000
"""Times of files are this coarse at most: what changed later than that before it was read is read again."""


class _Seen(NamedTuple):
    """What a file was when its contents were read."""

    stamp: tuple[int, ...]
    row: Row
    at_ns: int


class Files:
    """A probe that reads the files of a folder: table `files` with path, size, sha256 and text.

    `path` is relative to the folder, with "/" between its parts, and is the key. `text` is None for a file that is not
    UTF-8, is too long, or is not among those whose text is wanted. Links are not followed: the text of a link is
    where it leads. A file that has not changed since it was last read is not read again.

    Example:
        >>> Files("{workdir}/exports", ["*.csv"])  # doctest: +SKIP
    """

    table = "files"

    def __init__(
        self,
        folder: str = "{workdir}",
        patterns: Sequence[str] = ("**",),
        *,
        ignore: Sequence[str] = (),
        text: Sequence[str] = ("**",),
    ):
        """Which files, by patterns: "*.csv" at any depth, "out/*.csv" directly in `out`, "out/**" all below it.

        Args:
            folder: Where; {workdir} is filled in, and a relative path starts there.
            patterns: The files to read.
            ignore: Those of them to leave out, such as logs.
            text: Those whose text is kept in the state.

        Raises:
            HarnessError: A pattern is not text, or names a place outside the folder.
        """
        self.folder = folder
        self._wanted, self._ignored, self._texts = (Matcher(each, "Files") for each in (patterns, ignore, text))
        self._seen: WeakKeyDictionary[Running, dict[str, _Seen]] = WeakKeyDictionary()

    def control(self, product: Running) -> tuple[str, ...]:
        """The folder: the page must not be able to open its files as files."""
        return (str(located(self.folder, product)),)

    async def __call__(self, product: Running) -> State:
        """The files at this moment.

        Raises:
            ProductError: The folder is missing, a file cannot be read, or the product never stops writing.
        """
        return await asyncio.to_thread(self.read, located(self.folder, product), self._seen.setdefault(product, {}))

    def read(self, folder: Path, seen: dict[str, _Seen] | None = None) -> State:
        """The state that a folder holds; `seen` remembers what need not be read again."""
        if not folder.is_dir():
            why = "it is not a folder" if folder.exists() else "the product or its start command must make it"
            raise ProductError(f"there is no folder {folder} to read files from: {why}")
        seen = {} if seen is None else seen
        for attempt in range(TRIES):
            try:
                rows = tuple(self._rows(folder, seen))
            except (FileNotFoundError, _Moving) as exc:  # it vanished or grew while it was being read
                if attempt + 1 == TRIES:
                    raise ProductError(
                        f"{folder} does not keep still: {exc}; leave out what changes by ignore="
                    ) from exc
                time.sleep(_PAUSE_S)
            except OSError as exc:
                raise ProductError(f"cannot read the files of {folder}: {exc}") from exc
            else:
                return State({self.table: rows}, {self.table: ("path",)})
        raise AssertionError("unreachable")

    def _rows(self, folder: Path, seen: dict[str, _Seen]) -> Iterator[Row]:
        for path, status in walk(folder):
            if stat.S_ISDIR(status.st_mode) or not self._wanted(path) or self._ignored(path):
                continue
            if not (stat.S_ISREG(status.st_mode) or stat.S_ISLNK(status.st_mode)):
                continue  # sockets and pipes hold nothing that stays
            stamp, known = stamp_of(status), seen.get(path)
            if known is None or known.stamp != stamp or known.at_ns - status.st_ctime_ns < _FRESH_NS:
                known = seen[path] = _Seen(stamp, self._row(folder, path, status), time.time_ns())
            yield dict(known.row)

    def _row(self, folder: Path, path: str, status: os.stat_result) -> Row:
        place = folder / path
        if stat.S_ISLNK(status.st_mode):
            target = str(place.readlink())
            return _described(path, os.fsencode(target), shown(target))
        row, before = _read(place, path, status.st_size, self._texts(path)), stamp_of(status)
        if stamp_of(place.lstat()) != before:
            raise _Moving(f"{path} changed while it was being read")
        return row


class _Moving(Exception):
    """A file was not the same before and after it was read."""


def _read(place: Path, path: str, size: int, wants_text: bool) -> Row:
    digest, kept, length = hashlib.sha256(), b"", 0
    with place.open("rb") as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
            length += len(chunk)
            if size <= TEXT_BYTES and wants_text:
                kept += chunk
    text = None
    if length <= TEXT_BYTES and wants_text:
        try:
            text = kept.decode()
        except UnicodeDecodeError:
            text = None
    return {"path": shown(path), "size": length, "sha256": digest.hexdigest(), "text": text}


def _described(path: str, content: bytes, text: str) -> Row:
    return {"path": shown(path), "size": len(content), "sha256": hashlib.sha256(content).hexdigest(), "text": text}


def stamp_of(status: os.stat_result) -> tuple[int, ...]:
    """What of a file's status changes when the file does."""
    return (status.st_ino, status.st_mode, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def shown(path: str) -> str:
    """A file's name as text that can be stored, whatever bytes it is made of."""
    return os.fsencode(path).decode(errors="backslashreplace")


def walk(folder: Path, below: str = "") -> Iterator[tuple[str, os.stat_result]]:
    """(relative path, status) of all that a folder holds, a folder before what is in it, sorted; links as links."""
    with os.scandir(folder / below) as found:
        entries = sorted(found, key=lambda entry: entry.name)
    for entry in entries:
        path = f"{below}/{entry.name}" if below else entry.name
        status = entry.stat(follow_symlinks=False)
        yield path, status
        if stat.S_ISDIR(status.st_mode):
            yield from walk(folder, path)


class Matcher:
    """Whether a relative path fits one of several patterns.

    `*` and `?` stand for what is within a name, `**` for any number of folders. A pattern without "/" is tried on the
    last name of the path; one that ends with "/" means the folder and all that is below it.

    Example:
        >>> [Matcher(["*.csv", "logs/"], "x")(path) for path in ("a/b.csv", "logs/x/y", "b.csv/c")]
        [True, True, False]
    """

    def __init__(self, patterns: Sequence[str], where: str):
        if isinstance(patterns, str):
            raise HarnessError(f'{where}: patterns are several texts, such as ["{patterns}"]')
        for pattern in patterns:
            if not isinstance(pattern, str) or not pattern or pattern.startswith("/") or ".." in pattern.split("/"):
                raise HarnessError(f'{where}: {pattern!r} is no pattern of files in its folder, such as "out/*.csv"')
        self._fits = [re.compile(_expression(pattern), re.DOTALL) for pattern in patterns]

    def __call__(self, path: str) -> bool:
        return any(fits.fullmatch(path) for fits in self._fits)


def _expression(pattern: str) -> str:
    if pattern.endswith("/"):
        pattern += "**"
    if "/" not in pattern:
        pattern = f"**/{pattern}"
    found = ""
    for piece in re.split(r"(\*\*/|/\*\*$|\*\*|\*|\?)", pattern):
        special = {"**/": "(?:.*/)?", "/**": "(?:/.*)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
        found += special.get(piece, re.escape(piece))
    return found
