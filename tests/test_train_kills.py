"""Kill -9 of a browser, an app, the sampler and the trainer in mid-run: it goes on, or resumes exactly; no zero is invented."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pupil
import pytest
from pupil import GO, Client, Logit, Pupil

import uigym
from uigym import registry
from uigym.env import Env
from uigym.rollout import Pool
from uigym.slot import SteadyBrowser
from uigym.store import RunStore
from uigym.train.groups import turns
from uigym.train.loop import Loop, Update
from uigym.train.stream import Flow, Stream

pytestmark = pytest.mark.browser
SCRIPT = Path(pupil.__file__)


def kill_browser(env: Env) -> None:
    browser = env._slot._given_browser
    assert isinstance(browser, SteadyBrowser) and browser._shift is not None
    os.kill(browser._shift.browser.pid, signal.SIGKILL)


def kill_app(env: Env) -> None:
    os.kill(int((env.product.workdir / "pid").read_text()), signal.SIGKILL)


async def test_a_browser_an_app_and_the_sampler_are_killed_and_nothing_is_invented(tmp_path: Path) -> None:
    kiosk = registry.load("kiosk")
    command = f"{{python}} '{SCRIPT}' kiosk --port {{port}} --workdir {{workdir}}"
    harness = replace(kiosk, asgi="", start=command)
    harness.tasks.update(kiosk.tasks)
    sampler, trainer, acts = Client(), Logit(), [0]

    def kill_sampler(env: Env) -> None:
        assert sampler.process is not None
        os.kill(sampler.process.pid, signal.SIGKILL)

    plan = {9: kill_browser, 20: kill_app, 30: kill_sampler, 45: kill_sampler}

    def seen(env: Env) -> None:
        acts[0] += 1
        plan.pop(acts[0], lambda env: None)(env)

    found: list[Update] = []
    store = RunStore(tmp_path)
    try:
        async with Pool(harness, slots=3, browsers=2) as pool:
            flow = Flow(group_size=4, groups=2, max_staleness=1, rest_s=0.2)
            stream = Stream(pool, Pupil(sampler, seen), pupil.practice(harness), flow, store)
            async with aclosing(Loop(stream, sampler, trainer).updates()) as running:
                async for update in running:
                    found.append(update)
                    if not plan and update.number >= 3:
                        break
            assert await sampler.ask("weights") == [trainer.weight, found[-1].number]
    finally:
        await sampler.close()
    assert sampler.starts == 3
    used = [member for update in found for group in update.groups for member in group.members]
    for member in used:
        says = [turn.reply == (GO,) for turn in turns(member)]
        assert member.episode.verdict is not None and member.episode.verdict.success == all(says)
    assert sum(member.episode.attempt > 0 for member in used) + sum(
        count for update in found for name, count in update.tally.items() if name.startswith("failures/")
    )
    assert max(max(update.staleness) for update in found) <= 1
    written = [episode for episode in store.episodes() if episode.verdict is not None]
    assert all(e.verdict.success == all(step.text == "GO" for step in e.steps) for e in written if e.verdict)


# --- the trainer ---


@asynccontextmanager
async def training(folder: Path, updates: int) -> AsyncIterator[asyncio.subprocess.Process]:
    """A process that trains; it is gone afterwards."""
    environment = {**os.environ, "PYTHONPATH": str(Path(uigym.__file__).parent.parent)}
    command = (sys.executable, str(SCRIPT), "train", str(folder), "--updates", str(updates))
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE, env=environment)
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def until(process: asyncio.subprocess.Process, word: str) -> str:
    """Its line that begins so."""
    assert process.stdout is not None
    async for line in process.stdout:
        if line.decode().startswith(word):
            return line.decode().removeprefix(word).strip()
    raise AssertionError(f"the trainer ended with status {await process.wait()} before it said {word!r}")


async def test_a_trainer_that_is_killed_goes_on_exactly(tmp_path: Path) -> None:
    """While it learns, while it writes a checkpoint, and while it plays; the weights are those of a run without that."""
    async with training(tmp_path / "whole", 4) as process:
        whole = json.loads(await until(process, "weights"))
    assert len(whole) == 4 and len(set(whole)) == 4
    for words in (("update 1", "keeping", "learning"), ("update 2", "keeping"), ("update 2", "update 3")):
        async with training(tmp_path / "killed", 4) as process:
            for word in words:
                await until(process, word)
            process.send_signal(signal.SIGKILL)
    async with training(tmp_path / "killed", 4) as process:
        assert json.loads(await until(process, "weights")) == whole
    assert [path.name for path in sorted((tmp_path / "killed").iterdir())] == ["checkpoint-4"]
