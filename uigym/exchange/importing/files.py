"""Reading files that may come from anybody: bounded, as data, with an error that names the place."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from uigym.errors import ConfigError

MAX_BYTES = 64 * 1024 * 1024
"""Of a file."""
MAX_STEPS = 5_000
"""Of a recording."""
MAX_TEXT = 20_000
"""Characters of one text in it."""


def read_text(path: Path) -> str:
    """The text of a file.

    Raises:
        ConfigError: It cannot be read, is too large, or is no text.
    """
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
        if len(content) > MAX_BYTES:
            raise ConfigError(f"{path} is larger than {MAX_BYTES // 1024**2} MiB: that is no recording")
        return content.decode("utf-8-sig")
    except OSError as exc:
        raise ConfigError(f"cannot read {path}: {exc.strerror}") from exc
    except UnicodeDecodeError as exc:
        raise ConfigError(f"{path} is no text in UTF-8: {exc.reason} at byte {exc.start}") from exc


def parse(text: str, where: str) -> Any:
    """A JSON value.

    Raises:
        ConfigError: It is none, or nested too deeply.
    """
    try:
        return json.loads(text, parse_constant=_no_constant)
    except RecursionError:
        raise ConfigError(f"{where} is nested too deeply for a recording") from None
    except ValueError as exc:
        raise ConfigError(f"{where} is no JSON: {exc}") from exc


def lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a file of JSON lines, with the numbers of their lines.

    Raises:
        ConfigError: A line is no JSON object.
    """
    for number, line in enumerate(read_text(path).splitlines(), 1):
        if line.strip():
            where = f"{path}, line {number}"
            yield number, a_mapping(parse(line, where), where)


def a_mapping(value: Any, where: str) -> dict[str, Any]:
    """The value, which must be an object.

    Raises:
        ConfigError: It is not.
    """
    if not isinstance(value, dict):
        raise ConfigError(f"{where}: expected a JSON object, not {value!r:.60}")
    return value


def a_list(record: Mapping[str, Any], name: str, where: str) -> list[Any]:
    """The list under a name, empty if there is none.

    Raises:
        ConfigError: It is no list, or longer than a recording can be.
    """
    value = record.get(name) or []
    if not isinstance(value, list):
        raise ConfigError(f"{where}: {name} must be a list, not {value!r:.60}")
    if len(value) > MAX_STEPS:
        raise ConfigError(f"{where}: {name} has {len(value)} entries; at most {MAX_STEPS} can be imported")
    return value


def a_text(record: Mapping[str, Any], name: str, where: str, otherwise: str | None = None) -> str:
    """The text under a name.

    Raises:
        ConfigError: It is no text, or missing and nothing was given otherwise.
    """
    value = record.get(name, otherwise)
    if not isinstance(value, str):
        raise ConfigError(f"{where}: {name} must be a text, not {value!r:.60}")
    if len(value) > MAX_TEXT:
        raise ConfigError(f"{where}: {name} has {len(value)} characters; at most {MAX_TEXT} can be imported")
    return value


def a_number(record: Mapping[str, Any], name: str, where: str, otherwise: float | None = None) -> float:
    """The number under a name.

    Raises:
        ConfigError: It is no number a screen could have, or missing and nothing was given otherwise.
    """
    value = record.get(name, otherwise)
    if not isinstance(value, int | float) or isinstance(value, bool) or not abs(value) <= 1e7:
        raise ConfigError(f"{where}: {name} must be a number of at most 10,000,000, not {value!r:.60}")
    return float(value)


def quoted(text: str) -> str:
    """A text in the quotes of a selector.

    Example:
        >>> quoted("a 5'' disk")
        '"a 5\'\' disk"'
    """
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + re.sub(r"[\n\r\f]+", " ", escaped) + '"'


def brief(text: str, most: int = 80) -> str:
    """A text for a report: one line, not too long."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[:most]}..."


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no number")
