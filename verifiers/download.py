"""Verifiers of the files that the product gave away."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Mapping, Sequence

from uigym.types import Download, Episode, Verdict
from uigym.verifiers.rows import fits, value_shown
from uigym.verify import Verifier, check, failed

_MAX_SHOWN = 5


def downloaded(
    name: str | None = None,
    *,
    sha256: str | None = None,
    contains: str | bytes | Sequence[str | bytes] = (),
    rows: Sequence[Mapping[str, object]] | None = None,
    delimiter: str = ",",
    times: int = 1,
) -> Verifier:
    """The episode downloaded a file with this name and content, whole, and as often as asked for.

    Args:
        name: Of the file, as the browser proposed it; `*` stands for any characters. None takes any.
        sha256: Of the content, hex.
        contains: Text (UTF-8) or bytes that the content holds; each of them.
        rows: What the file must hold as CSV with a header: these rows and no others, in this order, each with at least
            these columns. Values compare as in a product's data: "7" is 7.
        times: How many such files there must be; one more or less fails, and so does a file of that name with another
            content. One that broke off or was still under way at the episode's end is none.

    Raises:
        ValueError: Nothing is asked for.
    """
    wanted = (contains,) if isinstance(contains, str | bytes) else tuple(contains)
    if name is None and sha256 is None and not wanted and rows is None:
        raise ValueError("downloaded(): say at least one of name, sha256, contains and rows")
    if times < 1:
        raise ValueError(f"downloaded(): times is at least 1, not {times}")
    read = None if rows is None else lambda content: _fault_of_rows(content, rows, delimiter)
    title = f"download {name or sha256 or 'of a file'}"

    def verify(episode: Episode) -> Verdict:
        named = [one for one in episode.downloads if name is None or _fits(name, one.name)]
        whole = [one for one in named if one.state == "finished"]
        if not whole:
            return failed(
                title, f"expected the download of {name or 'a file'}, found {_listed(named or episode.downloads)}"
            )
        faults = [fault for one in whole if (fault := _fault(one, sha256, wanted, read))]
        found = len(whole) - len(faults)
        if faults and (name is not None or not found):
            return failed(title, faults[0])
        return check(title, found == times, f"expected it {times} time(s), found it {found} times")

    return verify


def _fits(pattern: str, name: str) -> bool:
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), name, re.DOTALL) is not None


def _fault(
    one: Download, sha256: str | None, wanted: Sequence[str | bytes], read: Callable[[bytes], str] | None
) -> str:
    """What is wrong with a file; empty if nothing."""
    if sha256 is not None and one.sha256 != sha256.lower():
        return f"{one.name}: expected content with sha256 {sha256}, found {one.sha256} ({one.size} bytes)"
    for part in wanted:
        if (part.encode() if isinstance(part, str) else part) not in one.content:
            return f"{one.name}: expected content with {part!r:.200}, found {one.content!r:.200}"
    fault = "" if read is None else read(one.content)
    return fault and f"{one.name}: {fault}"


def _fault_of_rows(content: bytes, rows: Sequence[Mapping[str, object]], delimiter: str) -> str:
    try:
        found = list(csv.DictReader(io.StringIO(content.decode("utf-8-sig")), strict=True, delimiter=delimiter))
    except (UnicodeDecodeError, csv.Error) as exc:
        return f"expected CSV in UTF-8: {exc}"
    if len(found) != len(rows):
        return f"expected {len(rows)} rows, found {len(found)}"
    for number, (expected, row) in enumerate(zip(rows, found, strict=True), 1):
        for column, value in expected.items():
            if not fits(value, row.get(column)):
                return f"row {number}: expected {column} = {value_shown(value)}, found {row.get(column)!r}"
    return ""


def _listed(downloads: Sequence[Download]) -> str:
    names = [f"{one.name!r} ({one.state}, {one.size} bytes)" for one in downloads[:_MAX_SHOWN]]
    return ", ".join(names) + (" and more" if len(downloads) > _MAX_SHOWN else "") if names else "none"
