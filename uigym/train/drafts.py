"""Folders that are complete under their name, or not there at all."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from uigym.errors import ConfigError, StoreError, attribute


@contextmanager
def drafted(folder: Path, *, leads: bool = True, meet: Callable[[], None] = lambda: None) -> Iterator[Path]:
    """A folder to write into, which gets its name at the end; what had the name before goes away only then.

    Args:
        folder: Its name.
        leads: Whether this process makes and names it; several may write into it.
        meet: Waits for all that write.
    """
    draft = folder.with_name(f".{folder.name}.draft")
    if leads:
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(parents=True)
    meet()
    try:
        yield draft
        meet()
        if leads:
            _put(draft, folder)
        meet()
    finally:
        if leads:
            shutil.rmtree(draft, ignore_errors=True)


def _put(draft: Path, folder: Path) -> None:
    former = folder.with_name(f".{folder.name}.former")
    shutil.rmtree(former, ignore_errors=True)
    if folder.exists():
        folder.replace(former)
    draft.replace(folder)
    shutil.rmtree(former, ignore_errors=True)


def writing(folder: Path) -> AbstractContextManager[None]:
    """What goes wrong in here is that a checkpoint cannot be written."""
    return attribute(StoreError, f"cannot write the checkpoint (make room, or name another folder: out=DIR) {folder}")


def resuming(folder: Path) -> AbstractContextManager[None]:
    """What goes wrong in here is that a checkpoint cannot be gone on from."""
    return attribute(
        ConfigError, f"cannot resume from a damaged checkpoint, or another model's; remove it to begin anew: {folder}"
    )
