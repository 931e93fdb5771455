"""Verifiers of the requests that the episode's pages sent.

They need an episode that kept them: `Harness(watch=("network",))`. A request shows that something was asked for, not
that it lasted: what must be so in the end, the state says.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import parse_qsl

from uigym.compare import Matcher
from uigym.errors import VerifierError
from uigym.types import Episode, Exchange, Verdict
from uigym.verifiers.address import Address, origin
from uigym.verifiers.rows import columns_shown, fits, misfits, value_shown
from uigym.verify import Verifier, check

ANSWERED = Matcher("answered well", lambda status: 200 <= status < 400)
"""Status 200 to 399."""
_MAX_LISTED = 5
_MAX_BODY_BYTES = 64 * 1024
"""Of a longer body only the beginning is kept."""
_MAX_CHARACTER_BYTES = 4


def requested(method: str, pattern: str, *, body: Any = None, status: Any = ANSWERED, times: int = 1) -> Verifier:
    """Such a request was sent and answered, just so many times: twice is not once.

    Args:
        method: GET, POST, ...; "*" is any.
        pattern: Path and query at the product itself, such as "/api/orders/*", or an address with scheme and host
            for another origin. The patterns are those of `url_matches`.
        body: Of a JSON object or a form, the fields that it must at least have, by name; else the whole body. Values
            may be matchers. None takes any.
        status: Of the answer: a number or a matcher; None takes any, also none.
        times: How many.

    Raises:
        ValueError: The pattern is no address, or `times` is not at least 1.
    """
    if times < 1:
        raise ValueError(f"requested(): times is at least 1, not {times}; for none there is never_requested()")
    wanted = _Wanted(method, pattern, body, status)

    def verify(episode: Episode) -> Verdict:
        sent = _network(episode, "requested")
        near = [one for one in sent if wanted.is_for(one, sent)]
        found = [one for one in near if not wanted.fault(one)]
        why = f"expected {times} time(s) {wanted}, found it {len(found)} times"
        if faults := [f"{_told(one)}: {fault}" for one in near if (fault := wanted.fault(one))]:
            why += f"; besides: {_listed(faults)}"
        elif not near:
            others = [_told(one) for one in sent if wanted.method in ("*", one.method)]
            why += f" among {len(sent)} requests; with that method: {_listed(others)}"
        return check(f"request {wanted}", len(found) == times, why)

    return verify


def never_requested(method: str, pattern: str, *, body: Any = None, status: Any = None) -> Verifier:
    """No such request was sent, whatever came of it. The arguments are those of `requested`.

    A body that cannot be read, or of which only the beginning was kept, may hold anything: it counts as such a one.

    Raises:
        ValueError: The pattern is no address.
    """
    wanted = _Wanted(method, pattern, body, status)

    def verify(episode: Episode) -> Verdict:
        sent = _network(episode, "never_requested")
        found = [_told(one) for one in sent if wanted.is_for(one, sent) and wanted.may_be(one)]
        return check(f"no request {wanted}", not found, f"expected no {wanted}, found: {_listed(found)}")

    return verify


def nothing_refused() -> Verifier:
    """The episode's pages wanted nothing that the guard had to refuse: nothing outside the product."""

    def verify(episode: Episode) -> Verdict:
        found = [f"{one.url} ({one.why})" for one in episode.refusals]
        return check("nothing refused", not found, f"expected no request outside the product, found: {_listed(found)}")

    return verify


class _Wanted:
    """What a request must be."""

    def __init__(self, method: str, pattern: str, body: Any, status: Any):
        host = ""
        rest = pattern
        if "://" in pattern:
            host = origin(pattern)
            rest = pattern[len(host) :] or "/"
        if not rest.startswith(("/", "*")):
            raise ValueError(
                f"{pattern!r} is no pattern of requests: expected a path such as /api/orders or an address"
            )
        self.method = method.upper()
        self._origin, self._address = host, Address.of(rest)
        self._body, self._status = body, status
        said = {key: value for key, value in (("body", body), ("status", status)) if value not in (None, ANSWERED)}
        self._shown = " ".join(filter(None, [self.method, pattern, columns_shown(said)]))

    def __str__(self) -> str:
        return self._shown

    def is_for(self, one: Exchange, sent: Sequence[Exchange]) -> bool:
        """Whether method and address are right; the product's own origin is that of the first request."""
        own = self._origin or origin(sent[0].url)
        return self.method in ("*", one.method) and origin(one.url) == own and self._address.fits(one.url)

    def fault(self, one: Exchange) -> str:
        """What else is wrong with it; empty if nothing is."""
        if self._status is not None and not fits(self._status, one.status):
            return f"expected status {value_shown(self._status)}, found {one.status or 'no answer'}"
        if self._body is None:
            return ""
        if isinstance(self._body, Mapping):
            return _fault_of_fields(self._body, one.body)
        return "" if fits(self._body, one.body) else f"expected body {value_shown(self._body)}, found {one.body!r:.200}"

    def may_be(self, one: Exchange) -> bool:
        """Whether nothing is known to be wrong with it."""
        if self._body is None or not _unread(one.body, isinstance(self._body, Mapping)):
            return not self.fault(one)
        return self._status is None or fits(self._status, one.status)


def _unread(body: str, fields: bool) -> bool:
    """Whether a body may hold more than can be told: it was cut, or has fields and is no object and no form."""
    cut = len(body.encode("utf-8", "replace")) > _MAX_BODY_BYTES - _MAX_CHARACTER_BYTES
    return cut or (fields and body != "" and _fields(body) is None)


def _fault_of_fields(wanted: Mapping[str, Any], body: str) -> str:
    found = _fields(body)
    if found is None:
        return f"expected a JSON object or a form with {columns_shown(wanted)}, found {body!r:.200}"
    if wrong := misfits(found, wanted):
        return f"expected body {columns_shown({w: wanted[w] for w in wrong})}, found {columns_shown({w: found.get(w) for w in wrong})}"
    return ""


def _fields(body: str) -> dict[str, Any] | None:
    """Of a JSON object or of a form; a name that a form has several times has a list of values."""
    for read in _READERS:
        try:
            found = read(body)
        except (ValueError, KeyError, RecursionError):
            continue
        if isinstance(found, dict):
            return found
    return None


def _form(body: str) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for name, value in parse_qsl(body, keep_blank_values=True, strict_parsing=True):
        _put(fields, name, value)
    return fields


def _multipart(body: str) -> dict[str, Any]:
    """A form that was sent in parts, as one with files is: a file's value is its name.

    Raises:
        ValueError: It is none.
    """
    boundary, _, rest = body.partition("\r\n")
    if not boundary.startswith("--") or not rest.endswith(f"{boundary}--\r\n"):
        raise ValueError("no form in parts")
    fields: dict[str, Any] = {}
    for part in rest.removesuffix(f"{boundary}--\r\n").split(f"{boundary}\r\n"):
        head, _, value = part.partition("\r\n\r\n")
        named = dict(re.findall(r'\b(name|filename)="([^"]*)"', head))
        _put(fields, named["name"], named.get("filename", value.removesuffix("\r\n")))
    return fields


def _put(fields: dict[str, Any], name: str, value: str) -> None:
    before = fields.get(name)
    fields[name] = value if name not in fields else [*(before if isinstance(before, list) else [before]), value]


_READERS: tuple[Callable[[str], Any], ...] = (json.loads, _multipart, _form)


def _network(episode: Episode, name: str) -> tuple[Exchange, ...]:
    if "network" not in episode.watched:
        raise VerifierError(f'{name}: the episode did not keep its requests. Write in the harness: watch=("network",)')
    return episode.network


def _told(one: Exchange) -> str:
    return f"{one.method} {one.url[:120]} ({one.status or 'no answer'}, step {one.step})"


def _listed(lines: Sequence[str]) -> str:
    more = f" and {len(lines) - _MAX_LISTED} more" if len(lines) > _MAX_LISTED else ""
    return ("; ".join(lines[:_MAX_LISTED]) or "none") + more
