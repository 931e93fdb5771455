"""Where a running process can be asked: a file in its run folder that names a socket.

    RUN/live/PID-abcd.json      {"schema": 1, "socket": "/tmp/uigym-live-abcd/ask", "takeover": false, ...}; mode 0600

The socket is in a folder of its own that only this user can open (mode 0700), since the path of a socket must be
short; no web page can reach a socket of this kind. Both go when the process ends. Where it was killed they stay, and
nobody answers there: such a file is passed over by readers, and removed by the next process that publishes itself.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import stat
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = "live"
SCHEMA = 1
_PREFIX = "uigym-live-"
_MAX_FILE = 10_000


@dataclass(frozen=True, slots=True)
class Place:
    """One process's."""

    file: Path
    socket: Path
    told: Mapping[str, Any]
    """What it says of itself: its process id, whether it allows take-over."""

    @property
    def name(self) -> str:
        """What it is called in addresses."""
        return self.file.stem

    def close(self) -> None:
        """Remove the file and the socket."""
        with contextlib.suppress(OSError):
            self.file.unlink()
        if self.socket.parent.name.startswith(_PREFIX):
            shutil.rmtree(self.socket.parent, ignore_errors=True)
        with contextlib.suppress(OSError):
            self.file.parent.rmdir()  # if nobody else is there

    def is_stale(self) -> bool:
        """Whether nobody answers there any more."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asking:
            try:
                asking.connect(str(self.socket))
            except OSError:
                return True
        return False


def make(folder: Path, told: Mapping[str, Any]) -> Place:
    """A new place for this process, without its socket; stale ones in the folder are removed.

    Args:
        folder: Of the run.
        told: What the process says of itself, as JSON values.

    Raises:
        OSError: There is no room for a socket.
    """
    for other in places(folder):
        if other.is_stale():
            other.close()
    room = Path(tempfile.mkdtemp(prefix=_PREFIX))
    record = {"schema": SCHEMA, "pid": os.getpid(), "socket": str(room / "ask"), **told}
    file = folder / FOLDER / f"{os.getpid()}-{room.name.removeprefix(_PREFIX)}.json"
    return Place(file, room / "ask", record)


def show(place: Place) -> None:
    """Let it be found, once its socket answers.

    Raises:
        OSError: The folder cannot be written.
    """
    place.file.parent.mkdir(parents=True, exist_ok=True)
    spare = place.file.with_suffix(".tmp")
    with os.fdopen(os.open(spare, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as out:
        json.dump(place.told, out)
    spare.replace(place.file)


def places(folder: Path) -> Iterator[Place]:
    """Those in a run folder, stale ones too; what is no such file, or another user's, is passed over."""
    for file in sorted((folder / FOLDER).glob("*.json")):
        try:
            with os.fdopen(os.open(file, os.O_RDONLY | os.O_NOFOLLOW), "rb") as opened:
                owner = os.fstat(opened.fileno())
                if owner.st_uid != os.getuid() or not stat.S_ISREG(owner.st_mode):
                    continue
                told = json.loads(opened.read(_MAX_FILE))
            if told["schema"] == SCHEMA:
                yield Place(file, Path(told["socket"]), told)
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            continue
