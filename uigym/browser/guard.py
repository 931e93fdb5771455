"""What the pages of one session may reach: the product, what its harness allows beside it, and nothing else.

A page reaches the product directly. Everything else of the context, be it a frame, a worker, a redirect or a socket,
goes to a proxy of the context's own (proxy.py), which forwards to the allowed origins and refuses the rest. Beside that
Chromium is started with `FLAGS`: it asks no name server, and WebRTC sends nothing past the proxy.
"""

from __future__ import annotations

import re
from typing import Any

from uigym.browser.proxy import Proxy
from uigym.origins import Origin, origin_of
from uigym.watched import Refusal

FLAGS = (
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost, EXCLUDE [::1]",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
)
"""For the whole browser."""
MAX_REFUSALS = 1_000
"""Kept of one session; a page that tries in a loop fills no more of the record."""
MAX_URL = 2_000
"""Characters kept of an address."""
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_FORBIDDEN = ("file", "filesystem", "view-source", "chrome", "chrome-untrusted", "devtools", "ftp")
"""Schemes of what no product shows, in no frame."""
_AT_TOP = ("http", "https", "about", "blob", "chrome-error", "")
"""Schemes of what a window may show."""
_TOLD = re.compile(r"Not allowed to (?:load local resource|navigate top frame to data URL): (\S+)")
"""What Chromium says in the log of a page that wanted to open something else."""


class Guard:
    """Of one context. Made by `start`; close it when the context is gone."""

    def __init__(self, own: Origin, allow: frozenset[Origin]):
        self.own = own
        """The product."""
        self.allow = allow
        """What may be reached, the product included."""
        self.step = 0
        """How many actions have begun."""
        self._refusals: list[Refusal] = []
        self._dropped = 0
        self._proxy: Proxy | None = None

    @classmethod
    async def start(cls, base_url: str, allow: tuple[str, ...] = ()) -> Guard:
        """Begin to guard.

        Args:
            base_url: Address of the product.
            allow: Further origins that pages may reach.

        Raises:
            ValueError: One of them is no http or https address.
        """
        origins = [origin_of(url) for url in (base_url, *allow)]
        for url, origin in zip((base_url, *allow), origins, strict=True):
            if origin is None:
                raise ValueError(f"an address that pages may reach begins with http:// or https://, not {url!r}")
        known = [origin for origin in origins if origin]
        guard = cls(known[0], frozenset(known))
        guard._proxy = await Proxy.start(lambda origin: origin in guard.allow, guard._refuse_origin)
        return guard

    @property
    def is_open(self) -> bool:
        """Whether it has not been closed."""
        return self._proxy is not None

    @property
    def options(self) -> dict[str, Any]:
        """Of Playwright's context."""
        assert self._proxy is not None
        own = self.own
        host = f"[{own.host}]" if ":" in own.host else own.host
        direct = f",{host}:{own.port}" if own.host in _LOOPBACK else ""
        return {"proxy": {"server": f"http://127.0.0.1:{self._proxy.port}", "bypass": f"<-loopback>{direct}"}}

    @property
    def refusals(self) -> tuple[Refusal, ...]:
        """What was refused so far, in that order."""
        if not self._dropped:
            return tuple(self._refusals)
        rest = Refusal("", f"and {self._dropped} more that are not told", "more", self.step)
        return (*self._refusals, rest)

    def allows(self, url: str) -> bool:
        """Whether a page may be opened at an address."""
        return origin_of(url) in self.allow and url.split(":")[0].lower() in ("http", "https")

    def refuse(self, url: str, why: str, kind: str) -> None:
        """Note that something was refused."""
        if len(self._refusals) < MAX_REFUSALS:
            self._refusals.append(Refusal(url[:MAX_URL], why, kind, self.step))
        else:
            self._dropped += 1

    def forbids(self, url: str, is_top: bool) -> bool:
        """Whether a document is one that a window (or a frame in it) must not show, whatever its origin allows."""
        scheme, _, rest = url.partition(":")
        if scheme == "blob" and is_top:  # made by a script of the origin that it names, and no more than that may do
            return origin_of(rest) not in self.allow
        return scheme not in _AT_TOP if is_top else scheme in _FORBIDDEN

    def told(self, entry: dict[str, Any]) -> None:
        """Take in an entry of a page's log (Log.entryAdded): what Chromium itself refuses is said there alone."""
        if found := _TOLD.match(entry["entry"]["text"]):
            self.refuse(found[1].rstrip("'\"."), "pages may open http and https addresses only", "scheme")

    async def close(self) -> None:
        """End the proxy; what is open through it breaks off."""
        proxy, self._proxy = self._proxy, None
        if proxy is not None:
            await proxy.close()

    def _refuse_origin(self, url: str) -> None:
        self.refuse(url, "neither the product nor an origin that its harness allows", "origin")
