"""Verifiers of the product's files, as the probe `Files` tells them: table `files`, one row for each path.

Each is an expected change, so that `only` and `unchanged` see to it that no other file was touched.
"""

from __future__ import annotations

from typing import Any

from uigym.compare import Matcher
from uigym.verifiers.address import wild
from uigym.verifiers.state import Change, added, changed, needs, removed

TABLE = "files"
_PROBE = 'Files("...")'
_CONTENT = ("size", "sha256", "text")
_ANY = Matcher("other content", lambda found: True)


def created(path: str, **columns: Any) -> Change:
    """Just one file is new: this one, with this content.

    Args:
        path: Relative to the folder that is watched. `*` stands for anything but a slash, `**` for anything.
        columns: What else must hold, such as text="...", sha256="..." or size=12; values may be matchers.

    Raises:
        ValueError: There is no such column.
    """
    return needs(added(TABLE, path=_path(path), **_content("created", columns)), _PROBE)


def edited(path: str, **columns: Any) -> Change:
    """This file has other content than before, and what is named of it is as named.

    Args:
        path: Relative to the folder that is watched.
        columns: As those of `created`; without any, the content must only be another.

    Raises:
        ValueError: There is no such column.
    """
    content = _content("edited", columns) or {"sha256": _ANY}
    return needs(changed(TABLE, key=path, also=_CONTENT, **content), _PROBE)


def deleted(path: str) -> Change:
    """Just one file is gone: this one. `*` and `**` are those of `created`."""
    return needs(removed(TABLE, path=_path(path)), _PROBE)


def _path(pattern: str) -> str | Matcher:
    if "*" not in pattern:
        return pattern
    return Matcher(repr(pattern), lambda found: isinstance(found, str) and wild(pattern, found))


def _content(name: str, columns: dict[str, Any]) -> dict[str, Any]:
    for column in columns:
        if column not in _CONTENT:
            raise ValueError(f"{name}(): files have no {column!r}; expected some of {', '.join(_CONTENT)}")
    return columns
