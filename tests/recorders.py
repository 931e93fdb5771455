"""Playwright's own recorder, watching an oracle at work: files as `playwright codegen --target=jsonl` writes them."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from uigym.env import Env
from uigym.harness import Harness
from uigym.policy.oracle import OraclePolicy
from uigym.types import Answer, Done, Episode


def record_codegen(harness: Harness, task: str, seed: int, path: Path) -> Episode:
    """Let the oracle play an episode, and write what Playwright's recorder saw of it."""
    episode, lines = asyncio.run(_played(harness, task, seed))
    path.write_text("\n".join(lines) + "\n")
    return episode


async def _played(harness: Harness, task: str, seed: int) -> tuple[Episode, list[str]]:
    async with Env(harness) as env:
        observation = await env.reset(task, seed)
        context = env.session.page.context._impl_obj  # the recorder is not in the Python interface
        seen: list[dict[str, Any]] = []
        context._channel.onRecorderEvent(seen.append)
        await context._channel.startRecording(language="jsonl")
        policy = OraclePolicy().for_episode(env)
        url = env.session.url
        while env.episode is None:
            action = await policy.act(observation, env.history)
            if isinstance(action, Answer | Done):
                await context._channel.stopRecording()  # which first hands over what is still on its way
            observation = (await env.step(action)).observation
        await policy.close()
        episode = env.episode
    header = {"browserName": "chromium", "launchOptions": {"headless": False}, "contextOptions": {}}
    page = {"pageGuid": json.loads(seen[0]["code"])["pageGuid"]} if seen and seen[0].get("code") else {"pageGuid": ""}
    first = {"name": "openPage", "url": url, "signals": [], **page}
    return episode, [json.dumps(header), json.dumps(first), *_lines(seen)]


def _lines(seen: list[dict[str, Any]]) -> list[str]:
    """As codegen writes them: an action that goes on (typing, a double click) takes the place of its beginning."""
    lines: list[str] = []
    for event in seen:
        if event["event"] != "actionAdded" and lines:
            lines.pop()
        if event["code"]:
            lines.append(event["code"])
    return lines
