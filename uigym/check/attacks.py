"""What a page of a product can reach that it must not: every channel is tried from a real page of it.

What got through is judged by what servers that nobody else asks have heard, by what the page could read, by which
documents the browser shows, and by what the guard has noted; not by the page's own word.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal
from urllib.parse import parse_qs, quote, urlsplit

from uigym.check.canary import Canary
from uigym.check.players import ask
from uigym.env import Env
from uigym.errors import BrowserError, attribute
from uigym.origins import Origin, origin_of
from uigym.product import Product
from uigym.product.http import Control
from uigym.product.together import flat

PATIENCE_S = 1.5
"""How long a channel may take to get through."""
LIMIT_S = 20.0
MAX_FILES = 20
"""Control files and databases that are attacked."""
_AFTER_S = 0.3
_HEAD_BYTES = 256
_SQLITE = b"SQLite format 3\0"
SECOND = "a second port"
"""Name of the servers that an attack starts itself."""
_TCP = ("WebSocket with TLS", "https", "preconnect", "WebRTC by TURN")
_UDP = ("WebRTC by STUN", "WebTransport")
_NOBODY = "an address that nobody has"
_SPELLINGS = {
    "localhost": "localhost", "a name under localhost": "a.localhost", "127.1": "127.1", "one number": "2130706433",
    "hexadecimal": "0x7f000001", "octal": "0177.0.0.1", "another loopback address": "127.0.0.2", "zeros": "0.0.0.0",
    "IPv6": "[::1]", "IPv4 in IPv6": "[::ffff:127.0.0.1]", "localhost with a dot": "localhost.",
    "localhost.localdomain": "localhost.localdomain", "a name for any address": "127.0.0.1.nip.io",
}  # fmt: skip
_SCHEMES = {
    "the browser's own pages": "chrome://version/", "its settings": "chrome://settings/", "its tools": "devtools://devtools/bundled/inspector.html",
    "the page's source": "view-source:http://127.0.0.1/", "a data address": "data:text/html,stolen",
    "ftp": "ftp://127.0.0.1/",
    "the root of the disk": "file:///", "passwords": "file:///etc/passwd",
}  # fmt: skip
_REFUSES = (400, 401, 403, 404, 405, 407, 410, 501)
"""HTTP statuses that give a page nothing."""
_FOLDERS = (
    "",
    "static/",
    "assets/",
    "files/",
    "media/",
    "data/",
    "..%2f",
    "static/..%2f",
    "static/..%2f..%2f",
    "static/%2e%2e/%2e%2e/",
)
_WORKER = """onmessage = async ({ data, ports }) => {
  const socket = new Promise((done) => { const made = new WebSocket(data.socket); made.onopen = () => done("open"); made.onerror = () => done("refused") });
  const asked = fetch(data.url, { mode: "no-cors" }).then((answer) => answer.type, (error) => "refused: " + error);
  ports[0].postMessage((await Promise.all([asked, socket])).join(" "));
}"""


@dataclass(frozen=True, slots=True)
class Target:
    """A place that no page may reach."""

    place: str
    """An absolute path, an http address, or tcp://host:port."""
    kind: Literal["file", "database", "url", "port"]


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try."""

    channel: str
    """How: "fetch", "WebSocket in a worker", "redirect of a frame", ..."""
    target: str
    """What: the second port, a file, a control address."""
    got_through: bool
    detail: str = ""
    """What was heard or read; else how it was refused."""


def targets(product: Product) -> tuple[Target, ...]:
    """What the harness's probe and reset say must not be reached, and the databases in the product's work folder.

    Raises:
        TypeError, ValueError: A `control` names something that is no absolute path, http address or tcp://host:port.
    """
    found: dict[str, Target] = {}
    for each in product.all:
        for part in (each.harness.reset, each.harness.state):
            control = getattr(part, "control", None)
            for place in control(each) if control else ():
                found.setdefault(place, Target(place, _kind(place)))
        for path in sorted(each.workdir.rglob("*")):
            if len(found) < MAX_FILES and path.is_file() and _is_database(path):
                found[str(path)] = Target(str(path), "database")
    return tuple(found.values())


async def attack(env: Env, targets: tuple[Target, ...]) -> list[Attempt]:
    """Try everything from the page that an environment shows; its episode is of no use afterwards.

    Args:
        env: With an episode that has just begun.
        targets: As `targets` gives them; the second port, the disk and the browser's own pages are always tried.

    Raises:
        BrowserError: The page went away, or did not end its attacks in time.
    """
    page, own = env.session.page, str(origin_of(env.product.base_url))
    await page.context.route("**/uigym-attack/**", _serve)
    plan = _Plan(own, targets, _headers(env.product))
    async with Canary(_TCP, _UDP) as canary:
        given = {
            **plan.given,
            "second": SECOND,
            "hit": canary.url,
            "ports": canary.ports,
            "patience": PATIENCE_S * 1000,
        }
        doing = f"attacking from the first page of {env.harness.name}, for at most {LIMIT_S:g} s"
        with attribute(BrowserError, doing):
            said = await asyncio.wait_for(ask(page, _script(), given), LIMIT_S)
        await asyncio.sleep(_AFTER_S)
        heard = canary.heard
    shown = [(frame.url, frame.parent_frame is None) for tab in page.context.pages for frame in tab.frames]
    stopped = {origin_of(url) for url in (*said["blocked"], *(refusal.url for refusal in env.session.guard.refusals))}
    return plan.judge([_Tried(**one) for one in said["seen"]], heard, shown, stopped)


@dataclass(frozen=True, slots=True)
class _Tried:
    """What the page says of one try."""

    target: str
    channel: str
    word: str
    failed: bool
    status: int = 0
    type: str = ""
    head: str = ""
    """Base64 of what it read first."""

    @property
    def has_read(self) -> bool:
        """Whether the page got at what is there; that it has asked says nothing."""
        got = self.type != "" or self.word.isdecimal() or self.word in ("load", "imported")
        return got and not self.failed

    def attempt(self, through: bool, detail: str = "") -> Attempt:
        return Attempt(self.channel, self.target, through, (detail or self.word)[:200])


class _Plan:
    """What a page is told to try on the targets, and what the tries have shown."""

    def __init__(self, own: str, targets: tuple[Target, ...], headers: tuple[str, ...] = ()):
        self._files = {t.place: Path(t.place).as_uri() for t in targets if t.kind in ("file", "database")}
        urls = {t.place: t.place.replace("tcp://", "http://") for t in targets if t.kind in ("url", "port")}
        self._own = {place: own + _path(url) for place, url in urls.items() if _is_same_server(own, url)}
        self._urls = {place: url for place, url in urls.items() if place not in self._own}
        databases = [Path(target.place) for target in targets if target.kind == "database"]
        self._routes = {route: route for path in databases for route in _routes(own, path)}
        nobody = {_NOBODY: f"{own}/uigym-nobody-has-this"}
        self.given = {
            "own": own, "spellings": _SPELLINGS, "schemes": _SCHEMES, "files": self._files, "urls": self._urls,
            "paths": {**nobody, **self._own, **self._routes},
            "controls": [*nobody, *self._own] if self._own else [], "knocks": _knocks(headers),
        }  # fmt: skip

    def judge(
        self, tried: list[_Tried], heard: Mapping[str, str], shown: list[tuple[str, bool]], stopped: set[Origin | None]
    ) -> list[Attempt]:
        """Whether each try got through.

        Args:
            tried: What the page says.
            heard: What came to the second port, by channel.
            shown: The address of every document in the session, and whether it is that of a window.
            stopped: Origins that the guard or a policy of the product's own has refused.
        """
        nobody = {one.channel: (one.status, one.head) for one in tried if one.target == _NOBODY}
        return [
            self._judge(one, heard.get(one.channel, ""), shown, stopped, nobody)
            for one in tried
            if one.target != _NOBODY
        ]

    def _judge(
        self,
        one: _Tried,
        heard: str,
        shown: list[tuple[str, bool]],
        stopped: set[Origin | None],
        nobody: Mapping[str, Any],
    ) -> Attempt:
        if one.target == SECOND:
            return one.attempt(bool(heard), heard)
        if one.target in _SCHEMES:
            top, scheme = one.channel == "popup", _SCHEMES[one.target]
            harmless = not top and scheme.startswith("data:")  # in a frame it has no origin, and reaches nothing more
            return one.attempt(not harmless and any(is_top == top and _is_of(url, scheme) for url, is_top in shown))
        if one.target in self._files:
            top, uri = one.channel in ("popup", "view-source"), self._files[one.target]
            return one.attempt(one.has_read or any(is_top == top and url.endswith(uri) for url, is_top in shown))
        if one.target in self._urls:
            if origin_of(self._urls[one.target]) not in stopped:  # what came of it is not known, but it went out
                return one.attempt(True, f"{one.word}; nobody says that it was stopped")
            return one.attempt(not one.failed and one.word != "no answer")
        if one.target in self._own:
            same = (one.status, one.head) == nobody[one.channel]
            return one.attempt(one.status > 0 and one.status not in _REFUSES and not same)
        return one.attempt(base64.b64decode(one.head).startswith(_SQLITE))


async def _serve(route: Any) -> None:
    """What the attack needs of the product's own origin: an open redirect, and a service worker."""
    url = urlsplit(route.request.url)
    if url.path.endswith("worker.js"):
        await route.fulfill(status=200, content_type="text/javascript", body=_WORKER)
    else:
        await route.fulfill(status=302, headers={"Location": parse_qs(url.query)["to"][0]})


@cache
def _script() -> str:
    return Path(__file__).with_name("attacks.js").read_text(encoding="utf-8")


def _headers(product: Product) -> tuple[str, ...]:
    """Names of the headers that open the harness's control paths."""
    harnesses = [each.harness for each in product.all]
    parts = [leaf for harness in harnesses for part in (harness.reset, harness.state) for leaf in flat(part)]
    return tuple(dict.fromkeys(part.header for part in parts if isinstance(part, Control)))


def _knocks(headers: tuple[str, ...]) -> dict[str, dict[str, Any]]:
    """Requests to a control path on the product's own port, by what they are called: options of fetch."""
    found: dict[str, dict[str, Any]] = {method: {"method": method} for method in ("POST", "PUT", "DELETE")}
    for header in headers:
        for method in ("GET", "POST"):
            found[f"{method} with a guessed {header}"] = {"method": method, "headers": {header: "guess"}}
            found[f"{method} with an empty {header}"] = {"method": method, "headers": {header: ""}}
    return found


def _kind(place: str) -> Literal["file", "database", "url", "port"]:
    if place.startswith("/"):
        return "database" if _is_database(Path(place)) else "file"
    if place.startswith(("http://", "https://")) and origin_of(place):
        return "url"
    if place.startswith("tcp://") and urlsplit(place).port and origin_of(place.replace("tcp", "http", 1)):
        return "port"
    raise ValueError(f"control() names absolute paths, http addresses and tcp://host:port, not {place!r}")


def _is_database(path: Path) -> bool:
    return _head(path).startswith(_SQLITE)


def _head(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_HEAD_BYTES)
    except OSError:
        return b""


def _routes(own: str, path: Path) -> list[str]:
    """Addresses under which a careless product may give a file of its work folder away."""
    return [f"{own}/{folder}{quote(path.name)}" for folder in _FOLDERS]


def _is_same_server(own: str, url: str) -> bool:
    """Whether it is the product's own port, whatever name of this machine an address has for it."""
    here, there = origin_of(own), origin_of(url)
    return here == there or (
        here is not None and there is not None and here.port == there.port and _is_loopback(here, there)
    )


def _is_loopback(*origins: Origin) -> bool:
    return all(origin.host in ("127.0.0.1", "localhost", "::1") for origin in origins)


def _path(url: str) -> str:
    parts = urlsplit(url)
    return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


def _is_of(url: str, scheme: str) -> bool:
    return url.startswith(scheme.split(":")[0] + ":") and url not in ("about:blank", "about:srcdoc")
