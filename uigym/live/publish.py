"""A pool answers those who look on. Nothing is done for them beforehand: they are shown what the policy has seen.

A question is a line of JSON, an answer a line of JSON and as many bytes as its "bytes" says.

    {"ask": "slots"}                                    {"slots": [{"episode": ..., "image": ..., ...}], "takeover": ...}
    {"ask": "picture", "slot": 0, "image": "ab12..."}   {"bytes": 81234} and a PNG
    {"ask": "take" | "let_go" | "look", "slot": 0}      {}
    {"ask": "act", "slot": 0, "action": {...}}          {}; the action as `uigym.types.action_to_json` writes it

What cannot be done is answered with {"error": why}.
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
import logging
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from uigym.env import Env
from uigym.live.guest import Guest
from uigym.live.place import make, show
from uigym.request import Guest as Looked
from uigym.rollout import Pool
from uigym.types import NOTHING_OPEN, action_from_json, action_to_json

_log = logging.getLogger(__name__)
MAX_LINE = 100_000
_MAX_TEXT = 2_000
Answer = tuple[dict[str, Any], bytes]


@asynccontextmanager
async def publish(pool: Pool, folder: Path, *, takeover: Path | None = None) -> AsyncIterator[None]:
    """Let the pool be looked at by whoever can read the folder as this user, until the end of the block.

    Where that cannot be had (the folder is not writable), the pool runs without it, and the log says why.

    Args:
        pool: What runs.
        folder: Of the run.
        takeover: Where the episodes go in which a person took the policy's place; None does not allow it.
    """
    if takeover is not None:
        pool.guests |= {env: Guest(env, takeover) for env in pool.envs}
    stage = Stage(pool)
    try:
        place = make(folder, {"harness": pool.harness.name, "takeover": takeover is not None, "began": time.time()})
        server = await asyncio.start_unix_server(stage.serve, place.socket, limit=MAX_LINE)
        show(place)
    except OSError as exc:
        _log.warning("%s cannot be looked at while it runs: %s", folder, exc)
        yield
        return
    try:
        yield
    finally:
        place.close()
        server.close()
        stage.close()
        await server.wait_closed()


class Stage:
    """Answers questions about a pool."""

    def __init__(self, pool: Pool):
        self._pool = pool
        self._serving: set[asyncio.Task[None]] = set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one who looks on, until they leave."""
        task = asyncio.current_task()
        assert task is not None
        self._serving.add(task)
        try:
            while line := await reader.readline():
                head, body = self.answer(line)
                writer.write(json.dumps({**head, "bytes": len(body)}).encode() + b"\n" + body)
                await writer.drain()
        except (OSError, ValueError, asyncio.CancelledError):  # ValueError: the line has no end
            return
        finally:
            self._serving.discard(task)
            writer.close()

    def close(self) -> None:
        """Answer no more."""
        for task in self._serving:
            task.cancel()

    def answer(self, line: bytes) -> Answer:
        """The answer to a question."""
        try:
            asked = json.loads(line)
            if not isinstance(asked, dict):
                raise ValueError("a question is a JSON object")
            return self._answer(asked)
        except (ValueError, RecursionError) as exc:
            return {"error": str(exc)[:500]}, b""

    def _answer(self, asked: Mapping[str, Any]) -> Answer:
        pool, ask = self._pool, asked.get("ask")
        if ask == "slots":
            slots = [_slot(env, pool.guests.get(env)) for env in pool.envs]
            return {"harness": pool.harness.name, "takeover": bool(pool.guests), "slots": slots}, b""
        number = asked.get("slot")
        if not isinstance(number, int) or not 0 <= number < len(pool.envs):
            raise ValueError(f"slot: expected a number from 0 to {len(pool.envs) - 1}, not {number!r:.40}")
        env = pool.envs[number]
        if ask == "picture":
            image = asked.get("image")
            return {}, env.images.get(image, b"") if isinstance(image, str) else b""
        guest = pool.guests.get(env)
        if not isinstance(guest, Guest):
            raise ValueError("this run does not allow take-over: it was not started with --allow-takeover")
        match ask:
            case "take":
                guest.take()
            case "act":
                action = asked.get("action")
                guest.put(action_from_json(action if isinstance(action, dict) else {}))
            case "look":
                guest.look()
            case "let_go":
                guest.let_go()
            case _:
                raise ValueError(f"nothing is asked by {ask!r:.40}")
        return {}, b""


def _slot(env: Env, guest: Looked | None) -> dict[str, Any]:
    """What one slot is doing, as JSON values."""
    seen, history = env.observation, env.history
    if seen is None or not env.episode_id:
        return {"episode": ""}
    instance = env.instance
    last = history[-1] if history else None
    return {
        "episode": env.episode_id,
        "task": instance.id,
        "seed": instance.seed,
        "instruction": seen.instruction[:_MAX_TEXT],
        "steps": len(history),
        "limit": instance.task.max_steps,
        "action": action_to_json(last.action) if last else None,
        "words": last.text[:_MAX_TEXT] if last else "",
        "error": seen.error,
        "image": seen.image_hash,
        "width": seen.width,
        "height": seen.height,
        "open": dataclasses.asdict(seen.open) if seen.open != NOTHING_OPEN else None,
        "over": str(env.episode.stop) if env.episode else "",
        "reward": env.episode.reward if env.episode else None,
        "taken": guest is not None and guest.present,
    }
