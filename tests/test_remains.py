"""A controller that is killed leaves nothing beyond the next start, and two on one machine leave each other alone."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from uigym.browser import orphans
from uigym.product import strays
from uigym.registry import load
from uigym.rollout import Pool

pytestmark = pytest.mark.browser
GYM = Path(__file__).parent / "gyms" / "frail.py"
CONTROLLER = """
import asyncio, itertools, json, sys
from uigym.policy.scripted import NoOpPolicy
from uigym.registry import load
from uigym.rollout import Pool, Request

async def main():
    print(json.dumps({}), flush=True)
    async with Pool(load(sys.argv[1]), slots=2, browsers=1) as pool:
        told = {"browser": pool._browsers[0]._shift.browser.pid, "scratch": [str(e.product.scratch) for e in pool._envs]}
        number = 0
        async for done in pool.run(NoOpPolicy(), (Request("two", seed) for seed in itertools.count())):
            number += 1
            print(json.dumps({**told, "episodes": number, "failure": str(done.episode.failure)}), flush=True)

asyncio.run(main())
"""


class Controller:
    """A rollout without end in a process of its own, whose temporary files are in a folder of the test's."""

    def __init__(self, folder: Path, harness: Path = GYM):
        self.process = subprocess.Popen(
            [sys.executable, "-c", CONTROLLER, str(harness)],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "TMPDIR": str(folder)},
        )
        namespace, _, _ = orphans.mark().removeprefix(orphans.SWITCH).partition(".")
        self.owner = f"{namespace}.{self.process.pid}."
        self.told: dict[str, Any] = {}

    def after(self, episodes: int) -> None:
        """Wait until so many are over."""
        assert self.process.stdout is not None
        while self.told.get("episodes", 0) < episodes:
            self.told = json.loads(self.process.stdout.readline())
            assert self.told.get("failure", "None") == "None"

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()

    def processes(self) -> list[int]:
        """What carries its mark, its products included, and what it started and does not."""
        browsers = [pid for pid, command in orphans._marked() if any(self.owner in part for part in command)]
        products = [pid for pid, token in strays._carriers() if token.startswith(self.owner)]
        return [*browsers, *products]


def remains(folder: Path) -> list[str]:
    """Processes with files in the folder, and what lies there."""
    found = [str(path) for path in folder.iterdir()]
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            settings = (entry / "environ").read_bytes().split(b"\0")
            if f"TMPDIR={folder}".encode() in settings and orphans.is_running(int(entry.name)):
                found.append(f"{entry.name} {(entry / 'cmdline').read_bytes()[:200]!r}")
        except OSError:
            continue
    return found


def wait_until(condition: Callable[[], bool], seconds: float = 10.0) -> bool:
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.05)
    return condition()


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where a controller's browsers and this process's next one keep their files."""
    (folder := tmp_path / "t").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    yield folder


async def next_start() -> None:
    async with Pool(load(str(GYM)), slots=1):
        await asyncio.sleep(0)


DAEMON = """
import os, signal, subprocess, sys
signal.signal(signal.SIGTERM, signal.SIG_IGN)
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)"], start_new_session=True)
"""


def stubborn(folder: Path) -> Path:
    """The harness with a product that does not end when told to, and that leaves a process outside its group."""
    product = folder / "frail_product.py"
    product.write_text(
        DAEMON + GYM.with_name("frail_product.py").read_text().replace("from __future__ import annotations", "")
    )
    harness = folder / "frail.py"
    harness.write_text(GYM.read_text())
    return harness


@pytest.mark.parametrize("way", ["plain", "at once", "with a browser that stands still", "with a stubborn product"])
def test_a_killed_controller_leaves_nothing_after_the_next_start(temporary: Path, tmp_path: Path, way: str) -> None:
    controller = Controller(temporary, stubborn(tmp_path) if "product" in way else GYM)
    if way == "at once":
        assert controller.process.stdout is not None and controller.process.stdout.readline()
        assert wait_until(lambda: bool(controller.processes()))
    else:
        controller.after(12 if way == "plain" else 2)
        assert len(controller.processes()) >= 3
        assert any(temporary.iterdir())
    if "browser" in way:
        os.kill(controller.told["browser"], signal.SIGSTOP)
    controller.kill()
    asyncio.run(next_start())
    assert wait_until(lambda: not controller.processes()), controller.processes()
    assert wait_until(lambda: not remains(temporary)), remains(temporary)
    assert not [folder for folder in controller.told.get("scratch", []) if Path(folder).exists()]


def test_two_controllers_leave_each_other_alone(temporary: Path) -> None:
    first, second = Controller(temporary), Controller(temporary)
    try:
        first.after(1)
        second.after(1)
        mine = first.processes()
        second.kill()
        asyncio.run(next_start())  # sweeps what the second has left
        assert wait_until(lambda: not second.processes())
        first.after(first.told["episodes"] + 6)
        assert first.processes() == mine
    finally:
        first.kill()
    asyncio.run(next_start())
    assert wait_until(lambda: not remains(temporary)), remains(temporary)
