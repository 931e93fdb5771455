"""Temporary folders that vanish with their owner, even if the owner is killed.

Each folder is locked by the process that made it. The kernel drops the lock when that process dies, however it
dies, so a folder that can be locked is nobody's and the next process sweeps it away.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
import time
import weakref
from pathlib import Path

PREFIX = "uigym-"
_NEW = ".new-uigym-"
ROOM_BYTES = 256 * 1024 * 1024
"""Memory is used instead of a disk only where at least this much is free: containers often have 64 MB."""
_NEW_AGE_S = 30.0
"""A folder under its first name that is older than this was left before it was locked."""


class Scratch:
    """A temporary folder of one product, in memory where there is room."""

    def __init__(self, root: Path | None = None):
        """
        Args:
            root: The folder to make it in; None is memory, or the system's temporary folder.
        """
        root = place() if root is None else root
        sweep(root)
        new = Path(tempfile.mkdtemp(prefix=_NEW, dir=root))
        self._lock = os.open(new, os.O_RDONLY)
        with contextlib.suppress(OSError):  # a file system without locks: then nobody sweeps there either
            fcntl.flock(self._lock, fcntl.LOCK_EX)
        self.path = new.rename(root / new.name.replace(_NEW, PREFIX, 1))  # locked before anybody looks at it
        self._last = weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)  # at exit at the latest

    def remove(self) -> None:
        """Delete the folder and all that is in it; a second call does nothing."""
        if self._lock < 0:
            return
        self._last()
        os.close(self._lock)
        self._lock = -1


def place() -> Path:
    """Where temporary folders go: /dev/shm if it has room, else the system's temporary folder."""
    memory = Path("/dev/shm")
    if memory.is_dir() and os.access(memory, os.W_OK | os.X_OK) and shutil.disk_usage(memory).free >= ROOM_BYTES:
        return memory
    return Path(tempfile.gettempdir())


def sweep(root: Path) -> list[Path]:
    """Delete this user's folders whose owner is dead; returns those that were deleted."""
    swept = []
    for path in (*root.glob(f"{PREFIX}*"), *root.glob(f"{_NEW}*")):
        try:
            status = path.lstat()
        except FileNotFoundError:
            continue
        if path.is_symlink() or status.st_uid != os.getuid():
            continue
        if path.name.startswith(_NEW) and time.time() - status.st_mtime < _NEW_AGE_S:
            continue
        if _orphaned(path):
            shutil.rmtree(path, ignore_errors=True)
            swept.append(path)
    return swept


def _orphaned(path: Path) -> bool:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(handle)
    return True
