"""Verifiers of the page that is open when the episode ends."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, unquote, urlsplit

from uigym.types import Episode, Verdict
from uigym.verify import Verifier, check, failed


def url_matches(pattern: str) -> Verifier:
    """The open page's address fits a pattern. Host and port do not count, nor does a slash at the end.

    `*` stands for any characters up to the next slash, `**` for any at all. A query in the pattern (`?status=open`)
    must be the page's own, in any order, where empty values count as absent; without one, the page's query does not
    count. The same holds for a fragment (`#/customers/7`).

    Args:
        pattern: Path, query and fragment, such as "/tickets/*?tab=notes".

    Raises:
        ValueError: The pattern does not begin with / or *.
    """
    if not pattern.startswith(("/", "*")):
        raise ValueError(f"url_matches({pattern!r}): expected a path that begins with / or *, without scheme and host")
    rest, _, fragment = pattern.partition("#")
    path, _, query = rest.partition("?")
    name = f"page {pattern}"

    def verify(episode: Episode) -> Verdict:
        parts = urlsplit(episode.url)
        if parts.scheme not in ("http", "https"):
            return failed(name, f"expected a page at {pattern!r}, found {episode.url or 'no page'!r}")
        holds = (
            _fits(path.rstrip("/"), unquote(parts.path).rstrip("/"))
            and (not query or _same_query(query, parts.query))
            and (not fragment or _fits(fragment, unquote(parts.fragment)))
        )
        found = episode.url.removeprefix(f"{parts.scheme}://{parts.netloc}")
        return check(name, holds, f"expected a page at {pattern!r}, found {found!r}")

    return verify


def _fits(pattern: str, text: str) -> bool:
    pieces = {"**": ".*", "*": "[^/]*"}
    regex = "".join(pieces.get(piece, re.escape(piece)) for piece in re.split(r"(\*\*|\*)", pattern))
    return re.fullmatch(regex, text, re.DOTALL) is not None


def _same_query(pattern: str, query: str) -> bool:
    wanted, found = sorted(parse_qsl(pattern)), sorted(parse_qsl(query))
    return len(wanted) == len(found) and all(
        name == other and _fits(value, text) for (name, value), (other, text) in zip(wanted, found, strict=True)
    )
