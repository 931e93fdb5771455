"""What MiniWoB says of an episode, and the words that its oracles share."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from uigym.types import Episode, Part, State, Verdict
from uigym.verify import failed

VALUES = "browser.values"
REWARD = [(VALUES, name) for name in ("done", "raw_reward", "reason")]
"""The rows that say what an episode was worth; nothing else of a page's values may change."""


def told(state: State) -> Mapping[str, Any]:
    """What the page said, by name."""
    return {row["name"]: row["value"] for row in state.tables.get(VALUES, ())}


def rewarded(episode: Episode) -> Verdict:
    """MiniWoB gave a reward above 0: that is its own measure of success, whatever the reward is."""
    end = told(episode.after)
    reward = end.get("raw_reward") or 0
    said = f"MiniWoB's own reward is {reward:g}" + (f" ({end['reason']})" if end.get("reason") else "")
    if not end.get("done"):
        return failed("reward", "expected a reward above 0, but MiniWoB was not done")
    if reward <= 0:
        return failed("reward", f"expected a reward above 0: {said}")
    return Verdict(1.0, True, (Part("reward", 1.0, said),))


def quoted(utterance: str) -> list[str]:
    """What stands in quotes."""
    return re.findall(r'"([^"]*)"', utterance)


def whole(text: str) -> re.Pattern[str]:
    """This text and nothing else, for Playwright's has_text."""
    return re.compile(rf"^\s*{re.escape(text)}\s*$")


async def submit(page: Any) -> None:
    """Press the button that most pages end with."""
    await page.locator("#subbtn").click()
