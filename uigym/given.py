"""What a harness was given, checked where it is defined: kinds, names, origins, expressions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from uigym.errors import HarnessError, did_you_mean
from uigym.origins import is_origin
from uigym.splits import Looks
from uigym.surroundings import Surroundings
from uigym.watched import WATCHABLE

if TYPE_CHECKING:
    from uigym.harness import Harness


def check_given(harness: Harness) -> None:
    """Say what Python does not check, at the line where it was written.

    Raises:
        HarnessError: Something is not of the kind that is expected.
    """
    size = harness.viewport
    wrong = [
        ("name", harness.name, "text", isinstance(harness.name, str)),
        ("start", harness.start, "a command as text", isinstance(harness.start, str)),
        ("url", harness.url, "an address as text", isinstance(harness.url, str)),
        ("ready", harness.ready, 'a path such as "/healthz"', is_path(harness.ready)),
        ("home", harness.home, 'a path such as "/"', is_path(harness.home)),
        ("ready_timeout_s", harness.ready_timeout_s, "seconds", _is_between(harness.ready_timeout_s, 1e-3, 86_400)),
        ("grants", harness.grants, "a tuple of actions", isinstance(harness.grants, tuple | list)),
        ("surroundings", harness.surroundings, "Surroundings(...)", isinstance(harness.surroundings, Surroundings)),
        ("looks", harness.looks, "Looks by part", _are_looks(harness.looks)),
        ("beside", harness.beside, "harnesses by name", isinstance(harness.beside, Mapping)),
        ("meet", harness.meet, "an async callable", harness.meet is None or callable(harness.meet)),
        ("viewport", size, "width and height, whole CSS px", isinstance(size, tuple | list) and len(size) == 2
         and all(type(side) is int and 1 <= side <= 10_000 for side in size)),
    ]  # fmt: skip
    for field_, value, expected, good in wrong:
        if not good:
            raise HarnessError(f"harness {harness.name!r}: {field_} must be {expected}, not {value!r:.200}")
    _check_watched(harness)
    _check_page(harness)
    _check_installs(harness)


def _check_page(harness: Harness) -> None:
    reads = harness.reads
    if not isinstance(harness.init, str):
        raise HarnessError(f"harness {harness.name!r}: init must be JavaScript as text, not {harness.init!r:.200}")
    if not isinstance(reads, Mapping) or not all(isinstance(t, str) and t for pair in reads.items() for t in pair):
        raise HarnessError(
            f"harness {harness.name!r}: reads must be JavaScript expressions by name, not {reads!r:.200}"
        )
    if harness.until and harness.until not in reads:
        hint = did_you_mean(str(harness.until), reads)
        raise HarnessError(
            f"harness {harness.name!r}: until must name one of reads, not {harness.until!r:.200}. {hint}"
        )


def _check_installs(harness: Harness) -> None:
    taken: set[str] = set()
    if not isinstance(harness.install, tuple | list):
        raise HarnessError(
            f"harness {harness.name}: install must be a tuple, (Pip(...),), not {harness.install!r:.200}"
        )
    for part in harness.install:
        if not hasattr(part, "installed") or isinstance(part, type):
            raise HarnessError(
                f'harness {harness.name}: install takes parts such as Pip("wagtail==7.0"), not {part!r:.200}'
            )
        if part.value in taken:
            raise HarnessError(
                f"harness {harness.name}: two parts of install are {{{part.value}}}; name all packages in one"
            )
        taken.add(part.value)


def _check_watched(harness: Harness) -> None:
    for field_, value in (("allow", harness.allow), ("watch", harness.watch)):
        if not isinstance(value, tuple | list):
            raise HarnessError(f"harness {harness.name!r}: {field_} must be a tuple of texts, not {value!r:.200}")
    for origin in harness.allow:
        if not is_origin(origin):
            raise HarnessError(
                f'harness {harness.name!r}: allow takes origins such as "https://cdn.example" or '
                f'"http://127.0.0.1:9000", without a path and without *, not {origin!r:.200}'
            )
    for what in harness.watch:
        if what not in WATCHABLE:
            hint = did_you_mean(str(what), WATCHABLE)
            raise HarnessError(f"harness {harness.name!r}: {what!r:.200} cannot be watched. {hint}")


def is_path(value: object) -> bool:
    """Whether it is the path of a page."""
    return isinstance(value, str) and value.startswith("/") and not value.startswith(("//", "/\\"))


def _is_between(value: object, low: float, high: float) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high


def _are_looks(value: object) -> bool:
    return isinstance(value, Mapping) and all(isinstance(part, Looks) for part in value.values())
