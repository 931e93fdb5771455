"""Origins: where a page may reach, as scheme, host and port."""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import urlsplit

_PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}
_HOST = re.compile(r"[a-z0-9_-]+(\.[a-z0-9_-]+)*|[0-9a-f.]*:[0-9a-f:.]+")
_WEB = {"ws": "http", "wss": "https"}


class Origin(NamedTuple):
    """Scheme, host and port of an address; a WebSocket's is that of the page it could have come with."""

    scheme: str
    """http or https."""
    host: str
    """In small letters, without brackets."""
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"


def origin_of(url: str) -> Origin | None:
    """The origin of an http, https, ws or wss address; None for any other. Names beyond ASCII are given in Punycode.

    Example:
        >>> str(origin_of("wss://Cdn.Example/live"))
        'https://cdn.example:443'
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    host = (parts.hostname or "").removesuffix(".")
    if parts.scheme not in _PORTS or port == 0 or not _HOST.fullmatch(host):
        return None
    return Origin(_WEB.get(parts.scheme, parts.scheme), host, port or _PORTS[parts.scheme])


def is_origin(text: object) -> bool:
    """Whether a text is an origin and nothing more: no path, no user, no wildcard.

    Example:
        >>> is_origin("https://cdn.example"), is_origin("https://cdn.example/lib.js"), is_origin("https://*.example")
        (True, False, False)
    """
    if not isinstance(text, str) or any(mark in text for mark in "*@?# "):
        return False
    parts = urlsplit(text) if origin_of(text) else None
    return parts is not None and parts.scheme in ("http", "https") and parts.path in ("", "/")
