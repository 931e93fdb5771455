"""Patterns of addresses: which pages and requests a verifier means."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import parse_qsl, unquote, urlsplit


@dataclass(frozen=True, slots=True)
class Address:
    """A pattern of addresses.

    `*` stands for any characters up to the next slash, `**` for any at all. A query in the pattern (`?status=open`)
    must be the address's own, in any order, where empty values count as absent; without one, the query does not
    count. The same holds for a fragment (`#/customers/7`). A slash at the end does not count.

    Example:
        >>> Address.of("/tickets/*?tab=notes").fits("http://127.0.0.1:8123/tickets/12?tab=notes&q=")
        True
        >>> Address.of("/tickets/12").fits("http://127.0.0.1:8123/?next=/tickets/12")
        False
    """

    path: str
    query: str = ""
    fragment: str = ""

    @classmethod
    def of(cls, pattern: str) -> Address:
        """From "/path?query#fragment", without scheme and host."""
        rest, _, fragment = pattern.partition("#")
        path, _, query = rest.partition("?")
        return cls(path, query, fragment)

    def fits(self, url: str) -> bool:
        """Whether it is the address of a web page or request that the pattern means; its host does not count."""
        parts = urlsplit(url)
        return (
            parts.scheme in ("http", "https", "ws", "wss")
            and wild(self.path.rstrip("/"), unquote(parts.path).rstrip("/"))
            and (not self.query or _same_query(self.query, parts.query))
            and (not self.fragment or wild(self.fragment, unquote(parts.fragment)))
        )


def wild(pattern: str, text: str) -> bool:
    """Whether a text fits a pattern in which * stands for anything but a slash and ** for anything."""
    pieces = {"**": ".*", "*": "[^/]*"}
    regex = "".join(pieces.get(piece, re.escape(piece)) for piece in re.split(r"(\*\*|\*)", pattern))
    return re.fullmatch(regex, text, re.DOTALL) is not None


def origin(url: str) -> str:
    """Scheme, host and port: what stands before the path.

    Example:
        >>> origin("http://127.0.0.1:8123/tickets")
        'http://127.0.0.1:8123'
    """
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}".lower()


def _same_query(pattern: str, query: str) -> bool:
    wanted, found = sorted(parse_qsl(pattern)), sorted(parse_qsl(query))
    return len(wanted) == len(found) and all(
        name == other and wild(value, text) for (name, value), (other, text) in zip(wanted, found, strict=True)
    )
