"""One process at a time writes a folder of results."""

from __future__ import annotations

import fcntl
import os
import weakref
from pathlib import Path

from uigym.errors import StoreError

_held: weakref.WeakValueDictionary[Path, Hold] = weakref.WeakValueDictionary()


class Hold:
    """The right to write a folder, as long as this object lives. Made by `hold`."""

    def __init__(self, folder: Path):
        """Lock the folder itself, so that nothing is left in it; the kernel unlocks it when the process ends."""
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        weakref.finalize(self, os.close, handle)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise
        except OSError:
            return  # a file system without locks: then nobody is kept out


def hold(folder: Path) -> Hold:
    """Be the only process that writes a folder; within one process, everybody who asks shares it.

    Raises:
        StoreError: Another process writes it, or it is not there.
    """
    path = folder.resolve()
    found = _held.get(path)
    if found is None:
        try:
            found = _held[path] = Hold(path)
        except BlockingIOError as exc:
            raise StoreError(f"another process is writing {folder}: let it end, or name another folder") from exc
        except OSError as exc:
            raise StoreError(f"cannot write {folder}: {exc.strerror}") from exc
    return found
