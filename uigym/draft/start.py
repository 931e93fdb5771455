"""The start command as the draft writes it: so that it works from whatever folder uigym is called."""

from __future__ import annotations

import os
import re
from pathlib import Path

HERE = "\ue000"
"""Stands for the draft's own folder in a command or a path; a character that no command has."""
_MOST_UP = 3
"""A file that is further away is named by its full path."""
_WORD = re.compile(r"""(?:^|(?<=[\s=]))('[^'{}]+'|"[^"{}]+"|[^\s'"={}]+)(?=\s|$)""")
_SETTINGS = re.compile(r"""\s*(?:\w+=(?:'[^']*'|"[^"]*"|[^\s'"])*\s+)*""")
"""Variables that stand before the program."""


def rooted(command: str, folder: Path) -> str:
    """The command, with files that it names relative to the present folder named from `HERE`.

    Args:
        command: As it works in the present folder.
        folder: Where the draft will lie.

    Example:
        >>> rooted("serve --port {port}", Path())
        'serve --port {port}'
    """
    settings = _SETTINGS.match(command)
    program = settings.end() if settings else 0

    def replaced(found: re.Match[str]) -> str:
        word = found[1].strip("'\"")
        is_searched = found.start() == program and "/" not in word  # on PATH, not in the folder
        is_file = Path(word).is_file() or ("/" in word and Path(word).is_dir())
        if Path(word).is_absolute() or is_searched or not is_file or "'" in word:
            return found[0]
        return f"'{from_here(word, folder)}'"

    return _WORD.sub(replaced, command)


def from_here(path: str, folder: Path) -> str:
    """A file of the present folder, from `HERE` on."""
    relative = os.path.relpath(Path(path).resolve(), folder.resolve())
    return str(Path(path).resolve()) if relative.split("/").count("..") > _MOST_UP else f"{HERE}/{relative}"


def names_a_file(command: str) -> bool:
    """Whether a command, rooted, says where its program lies."""
    words = (found[1].strip("'\"") for found in _WORD.finditer(command))
    return any(word.startswith(f"{HERE}/") or (Path(word).is_absolute() and Path(word).is_file()) for word in words)
