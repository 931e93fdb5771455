"""Finding the element that a recording names in the page that is shown."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from uigym.errors import HarnessError
from uigym.exchange.importing.asked import Target
from uigym.policy.hands import WAIT_S

LOOK_S = 10.0
"""How long one look at the page may take: a selector of a file may be one that keeps it busy for ever."""
_GRACE_S = 1.0
"""What is hidden, or one of several, may be the only one that is visible this much later."""
_POLL_S = 0.05


@dataclass(frozen=True, slots=True)
class Found:
    """The element."""

    locator: Any
    """Playwright's."""
    alone: bool
    """Some way finds it and no other that is visible."""
    after_s: float
    """How long it was waited for; 0 if it was there."""


async def locate(page: Any, target: Target) -> Found:
    """The one element; the first visible one, where no way finds one alone.

    Args:
        page: Playwright's page.
        target: What the recording names.

    Raises:
        HarnessError: It is not there, or no way to it can be used.
    """
    began, looks = time.monotonic(), 0
    while True:
        found, second, wrong = await _look(page, target)
        waited, looks = time.monotonic() - began, looks + 1
        if found is not None:
            return Found(found, True, waited if looks > 1 else 0.0)
        if second is not None and waited > _GRACE_S:
            return Found(second, False, 0.0)
        if waited > WAIT_S:
            tried = "; ".join(target.ways[:3])
            raise HarnessError(f"no such element on the page after {waited:.0f} s: {wrong or tried:.400}")
        await asyncio.sleep(_POLL_S)


async def _look(page: Any, target: Target) -> tuple[Any, Any, str]:
    """The element if there is exactly one that is visible; else the next best; and why a way could not be used."""
    second, wrong = None, ""
    for frame in _frames(page, target):
        for way in target.ways:
            locator = frame.locator(way)
            try:
                async with asyncio.timeout(LOOK_S):
                    count = await locator.count()
                    visible = locator.filter(visible=True)
                    shown = await visible.count() if count else 0
            except TimeoutError:
                raise HarnessError(
                    f"the page did not answer for {LOOK_S:g} s when it was asked for {way:.200}"
                ) from None
            except Exception as exc:  # Playwright's, of a selector that it cannot read or a frame that has gone
                wrong = f"{way:.100}: {str(exc).splitlines()[0]:.200}"
                continue
            if shown == 1:
                return visible.first, None, ""
            if count:
                second = second or (visible.first if shown else locator.first)
    return None, second, wrong


def _frames(page: Any, target: Target) -> Iterator[Any]:
    if target.anywhere:
        yield from page.frames
        return
    frame = page.main_frame
    for index in target.frame:
        children = frame.child_frames
        if index >= len(children):
            return
        frame = children[index]
    yield frame
