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
        HarnessError: One cannot be read or written.
    """
    paths = {}
    for name, content in files.items():
        path = paths[name] = folder / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(_bytes(content))
        except OSError as exc:
            raise HarnessError(f"the file {name!r} that the harness offers: {exc}") from exc
    return paths


def _bytes(content: str | bytes | Path) -> bytes:
    if isinstance(content, Path):
        return content.read_bytes()
    return content.encode() if isinstance(content, str) else content


def _is_inside(name: str) -> bool:
    parts = PurePosixPath(name).parts
    return bool(parts) and str(PurePosixPath(name)) == name and not {"/", "..", "."} & set(parts) and name.isprintable()
