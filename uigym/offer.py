"""Files that an episode offers for uploads: given by a harness or a task, written into the session's folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import TypeAlias

from uigym.errors import HarnessError

Offer: TypeAlias = Mapping[str, str | bytes | Path]
"""Name -> content (text or bytes), or the path of a file to copy. "photos/cat.png" lies in a folder."""


def check_offer(files: object, where: str) -> None:
    """Make sure that the names and contents can be written.

    Raises:
        HarnessError: They cannot; the text begins with `where`.
    """
    if not isinstance(files, Mapping):
        raise HarnessError(f"{where}: files are names with contents or paths, not {files!r:.200}")
    for name, content in files.items():
        if not isinstance(name, str) or not _is_inside(name):
            raise HarnessError(f'{where}: a file\'s name is like "a.pdf" or "photos/a.png", not {name!r:.200}')
        if not isinstance(content, str | bytes | Path):
            raise HarnessError(f"{where}: the file {name!r} must be text, bytes or a Path, not {content!r:.200}")


def lay_out(files: Offer, folder: Path) -> dict[str, Path]:
    """Write the files; where each is now.

    Raises:
        HarnessError: One that is given by its path cannot be read.
        OSError: One cannot be written.
    """
    paths = {}
    for name, given in files.items():
        content = _bytes(name, given)
        path = paths[name] = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return paths


def _bytes(name: str, given: str | bytes | Path) -> bytes:
    try:
        return given.read_bytes() if isinstance(given, Path) else given.encode() if isinstance(given, str) else given
    except OSError as exc:
        raise HarnessError(f"the file {name!r} that the harness offers: {exc}") from exc


def _is_inside(name: str) -> bool:
    parts = PurePosixPath(name).parts
    return bool(parts) and str(PurePosixPath(name)) == name and not {"/", "..", "."} & set(parts) and name.isprintable()
