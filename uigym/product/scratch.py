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
ROOM_BYTES = 256 * 1024 * 1024
"""Memory is used instead of a disk only where at least this much is free: containers often have 64 MB."""
SWEEP_AGE_S = 30.0
"""A folder younger than this may be one that its owner has not locked yet."""


class Scratch:
    """A temporary folder of one product, in memory where there is room."""

    def __init__(self) -> None:
        root = place()
        sweep(root)
        self.path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=root))
        self._lock = os.open(self.path, os.O_RDONLY)
        self._last = weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)  # at exit at the latest
        with contextlib.suppress(OSError):  # a file system without locks: then nobody sweeps there either
            fcntl.flock(self._lock, fcntl.LOCK_EX)

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


def sweep(root: Path, age_s: float = SWEEP_AGE_S) -> list[Path]:
    """Delete this user's folders whose owner is dead; returns those that were deleted."""
    swept = []
    for path in root.glob(f"{PREFIX}*"):
        try:
            status = path.lstat()
        except FileNotFoundError:
            continue
        if path.is_symlink() or status.st_uid != os.getuid() or time.time() - status.st_mtime < age_s:
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
