"""The attacks on a harness: nothing gets through, and what would get through is seen."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from uigym.browser import Browser
from uigym.check.attacks import SECOND, Attempt, attack, targets
from uigym.env import Env
from uigym.registry import load

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]
PAD = load(str(Path(__file__).parent / "gyms" / "pad.py"))


def leaks(attempts: list[Attempt]) -> dict[str, list[str]]:
    """Channels that got through, by target."""
    found: dict[str, list[str]] = {}
    for attempt in attempts:
        if attempt.got_through:
            found.setdefault(attempt.target, []).append(attempt.channel)
    return found


async def test_nothing_gets_through(browser: Browser) -> None:
    async with Env(PAD, browser) as env:
        await env.reset("add", 1)
        found = targets(env.product)
        names = {Path(target.place).name: target.kind for target in found}
        assert names["pad.db"] == "database" and names.keys() <= {
            "pad.db",
            "pad.db-wal",
            "pad.db-shm",
            "pad.db-journal",
        }
        attempts = await attack(env, found)
        tried = Counter(attempt.target for attempt in attempts)
        assert not leaks(attempts)
        assert tried[SECOND] >= 60 and len(attempts) >= 100
        refusals = env.session.guard.refusals
        assert len({refusal.url for refusal in refusals}) >= 40
        assert {refusal.kind for refusal in refusals} == {"origin", "scheme"}


class Everything:
    """Every origin is allowed."""

    def __contains__(self, origin: object) -> bool:
        return True


UNSEEN = {
    "prerender", "site icon", "manifest", "preconnect", "the host as a name for any address", "the host as localhost.localdomain",
    "the host as IPv6", "the host as IPv4 in IPv6", "the host as another loopback address", "the host as a name under localhost",
    "WebRTC by STUN", "WebRTC by TURN", "WebTransport",
}  # fmt: skip
"""Channels that Chromium itself does not open here, or that no server listens to."""


async def test_what_a_guard_lets_through_is_seen(browser: Browser) -> None:
    async with Env(PAD, browser) as env:
        await env.reset("add", 1)
        env.session.guard.allow = Everything()  # type: ignore[assignment]
        attempts = await attack(env, ())
        through = set(leaks(attempts)[SECOND])
        unseen = {a.channel for a in attempts if a.target == SECOND} - through
        assert unseen <= UNSEEN and len(through) >= 45, unseen
