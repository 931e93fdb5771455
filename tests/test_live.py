"""A running pool can be looked at, at no cost while nobody looks; and taken over, where that is allowed."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import stat
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from uigym.harness import Harness
from uigym.live import publish
from uigym.live.ask import Gone, Line
from uigym.live.place import Place, make, places, show
from uigym.record import read_demo
from uigym.registry import load
from uigym.rollout import Finished, Pool, Request
from uigym.store import RunStore
from uigym.types import Action, Click, Done, History, Observation, Type, Wait, action_to_json
from uigym.verify import Verifier, check

PAD = load(str(Path(__file__).parent / "gyms" / "pad.py"))
FIELD, ADD = Click(60, 16), Click(155, 16)
SECRET = "hunter-22-secret"


def notes(init: str = "") -> Harness:
    harness = replace(PAD, init=init)

    @harness.task("Add a note.", max_steps=400)
    def note() -> Verifier:
        return lambda episode: check(
            "noted", len(episode.after.tables["notes"]) > len(episode.before.tables["notes"]), ""
        )

    return harness


@dataclass
class Patient:
    """Waits until it is let go, then says that it is done."""

    name: str = "patient"
    released: asyncio.Event = field(default_factory=asyncio.Event)
    seen: list[int] = field(default_factory=list)

    async def act(self, observation: Observation, history: History) -> Action:
        self.seen.append(len(history))
        return Done() if self.released.is_set() else Wait(0.02)


class Running:
    """A pool at work, and a line to it."""

    def __init__(self, line: Line, playing: asyncio.Task[list[Finished]]):
        self.line, self.playing = line, playing

    async def slot(self) -> dict[str, Any]:
        """What the first slot says, once an episode runs in it."""
        return await self._once(lambda slot: bool(slot["episode"]))

    async def do(self, ask: str, action: Action | None = None) -> None:
        """What a person wants; returns once it is done."""
        before = (await self.slot())["steps"]
        await self.line.ask({"ask": ask, "slot": 0, "action": action_to_json(action) if action else None})
        if action and not isinstance(action, Done):
            await self._once(lambda slot: slot.get("steps") != before)

    async def _once(self, holds: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        for _ in range(2000):
            slot: dict[str, Any] = (await self.line.ask({"ask": "slots"}))[0]["slots"][0]
            if holds(slot):
                return slot
            await asyncio.sleep(0.02)
        raise AssertionError(f"it does not come: {slot}")


@asynccontextmanager
async def running(
    folder: Path, policy: Patient, harness: Harness | None = None, *, takeover: bool = True
) -> AsyncIterator[Running]:
    store = RunStore(folder)

    async def play(pool: Pool) -> list[Finished]:
        async with aclosing(pool.run(policy, [Request("note", 0)], store)) as finished:
            return [one async for one in finished]

    async with Pool(harness or notes(), slots=1) as pool, publish(pool, folder, takeover=folder if takeover else None):
        (place,) = places(folder)
        line = Line(place)
        playing = asyncio.create_task(play(pool))
        try:
            yield Running(line, playing)
        finally:
            line.close()
            playing.cancel()
            await asyncio.gather(playing, return_exceptions=True)


async def over(run: Running, policy: Patient) -> Finished:
    """The policy's own episode, once it has ended."""
    policy.released.set()
    (finished,) = await run.playing
    return finished


def everything(folder: Path) -> bytes:
    """All that is in the files of a folder."""
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


# --- looking on ---


@pytest.mark.browser
@pytest.mark.asyncio
async def test_a_running_pool_shows_what_its_policy_sees(tmp_path: Path) -> None:
    policy = Patient()
    async with running(tmp_path, policy, takeover=False) as run:
        slot = await run.slot()
        assert slot["task"] == "pad/note" and slot["seed"] == 0 and slot["limit"] == 400 and not slot["taken"]
        _, png = await run.line.ask({"ask": "picture", "slot": 0, "image": slot["image"]})
        assert hashlib.sha256(png).hexdigest() == slot["image"]
        (place,) = places(tmp_path)
        assert stat.S_IMODE(place.file.stat().st_mode) == 0o600
        assert stat.S_IMODE(place.socket.parent.stat().st_mode) == 0o700
        with pytest.raises(ValueError, match="--allow-takeover"):
            await run.line.ask({"ask": "take", "slot": 0})
        assert (await over(run, policy)).episode.policy == "patient"
    assert not (tmp_path / "live").exists() and not place.socket.parent.exists()
    with pytest.raises(Gone):
        await Line(place).ask({"ask": "slots"})


@pytest.mark.browser
@pytest.mark.asyncio
async def test_nonsense_is_answered_and_harms_nothing(tmp_path: Path) -> None:
    policy = Patient()
    async with running(tmp_path, policy) as run:
        await run.slot()
        (place,) = places(tmp_path)
        reader, writer = await asyncio.open_unix_connection(place.socket)
        for line in (b"\xff\xfe", b"[]", b"{}", b"[" * 5000, b'{"ask":"picture","slot":9}', b'{"ask":"act","slot":0}'):
            writer.write(line + b"\n")
            head = json.loads(await reader.readline())
            assert head["error"] and head["bytes"] == 0
        writer.write(b"x" * 1_000_000)  # a line without an end
        with suppress(ConnectionError):
            await reader.read()
        writer.close()
        for action in ({"action": "evil"}, {"action": "click", "z": 1}, "click"):
            with pytest.raises(ValueError):
                await run.line.ask({"ask": "act", "slot": 0, "action": action})
        assert (await run.slot())["episode"]
        assert (await over(run, policy)).episode.verdict is not None


def test_what_a_killed_process_left_is_recognised_and_removed(tmp_path: Path) -> None:
    left = make(tmp_path, {"harness": "pad"})
    show(left)
    (found,) = places(tmp_path)
    assert found.is_stale() and found.told["harness"] == "pad"
    other = make(tmp_path, {})
    assert not left.file.exists() and not left.socket.parent.exists()
    other.close()


def test_what_is_no_such_file_is_passed_over(tmp_path: Path) -> None:
    folder = tmp_path / "live"
    folder.mkdir()
    for name, text in (("a", ""), ("b", "[]"), ("c", '{"schema": 99}'), ("d", "[" * 9000), ("e", '{"schema": 1}')):
        (folder / f"{name}.json").write_text(text)
    (folder / "f.json").symlink_to("/etc/hostname")
    os.mkfifo(tmp_path / "pipe")
    assert list(places(tmp_path)) == []
    Place(folder / "a.json", tmp_path / "ask", {}).close()
    assert tmp_path.exists(), "only folders that were made for a socket are removed"


# --- take-over ---


@pytest.mark.browser
@pytest.mark.asyncio
async def test_what_a_person_took_over_is_theirs_and_the_policy_plays_again(tmp_path: Path) -> None:
    policy = Patient()
    async with running(tmp_path, policy) as run:
        await run.do("take")
        for action in (FIELD, Type("milk"), ADD):
            await run.do("act", action)
        assert (await run.slot())["taken"]
        thought = len(policy.seen)
        await run.do("act", Wait(0.1))
        assert len(policy.seen) == thought, "the policy is not asked meanwhile"
        await run.do("act", Done())
        finished = await over(run, policy)
    store = RunStore(tmp_path)
    own, by_hand = "pad-note-0--0", "pad-note-0--0-by-hand"
    assert store.ids() == [own, by_hand]
    assert finished.episode.policy == store.episode(own).policy == "patient"
    assert finished.episode.verdict is not None and not finished.episode.verdict.success
    assert len(finished.samples) == len(finished.episode.steps) and finished.episode.attempt == 0
    demo, shown = read_demo(store, by_hand), store.episode(by_hand)
    assert shown.policy == "patient, then a person" and shown.reward == 1.0
    assert demo is not None and demo.way == "takeover" and demo.proof is None
    assert [step.action for step in shown.steps][demo.notes["taken_over_at"] :] == [
        FIELD, Type("milk"), ADD, Wait(0.1), Done(),
    ]  # fmt: skip
    assert read_demo(store, own) is None


@pytest.mark.browser
@pytest.mark.asyncio
async def test_whoever_lets_go_gives_the_episode_back(tmp_path: Path) -> None:
    policy = Patient()
    async with running(tmp_path, policy) as run:
        await run.do("take")
        await run.do("act", FIELD)
        await run.do("let_go")
        with pytest.raises(ValueError, match="take over first"):
            await run.line.ask({"ask": "act", "slot": 0, "action": {"action": "done"}})
        assert (await over(run, policy)).episode.policy == "patient"
    store = RunStore(tmp_path)
    assert store.episode("pad-note-0--0-by-hand").policy == "patient, then a person"
    assert read_demo(store, "pad-note-0--0-by-hand") is None, "it did not succeed"


@pytest.mark.browser
@pytest.mark.asyncio
async def test_a_password_is_not_kept(tmp_path: Path) -> None:
    hidden = "addEventListener('DOMContentLoaded', () => { document.querySelector('#text').type = 'password' })"
    policy = Patient()
    async with running(tmp_path, policy, notes(hidden)) as run:
        await run.do("take")
        for action in (FIELD, Type(SECRET), ADD, Done()):
            await run.do("act", action)
        await over(run, policy)
    kept = everything(tmp_path)
    assert SECRET.encode() not in kept and b"[withheld]" in kept
    assert RunStore(tmp_path).episode("pad-note-0--0-by-hand").reward == 1.0
