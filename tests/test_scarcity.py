"""No room on the disk, no shared memory, no file descriptors: one failure each time, and all is well once there is room.

Each trial runs in a process with mounts of its own, small ones.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

GYM = Path(__file__).parent / "gyms" / "frail.py"
PRIVATE = ("unshare", "--mount", "--propagation", "private")


def may_mount() -> bool:
    try:
        return not subprocess.run([*PRIVATE, "mount", "-t", "tmpfs", "tmpfs", "/mnt"], capture_output=True).returncode
    except OSError:
        return False


pytestmark = [pytest.mark.browser, pytest.mark.skipif(not may_mount(), reason="needs the right to mount")]

TRIAL = """
import asyncio, json, os, resource, subprocess, sys
from contextlib import aclosing
from pathlib import Path
gym, root = sys.argv[1], Path(sys.argv[2])
for folder, size in (("t", "48m"), ("run", "1m")):
    (root / folder).mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(root / folder)], check=True)
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", "/dev/shm"], check=True)
os.environ["TMPDIR"] = str(root / "t")

from uigym.browser import launch
from uigym.errors import StoreError
from uigym.registry import load
from uigym.rollout import Pool, Request
from uigym.slot import Limits
from uigym.store import RunStore
from uigym.types import Click, Done, Wait

launch.SHARED_MEMORY_BYTES = 1 << 25
ADD = Click(30, 10)

def fill(folder):
    with open(folder / "filler", "wb", buffering=0) as file:
        try:
            while file.write(b"x" * 4096): pass
        except OSError: pass

def starve():
    highest = max(int(name) for name in os.listdir("/proc/self/fd"))
    resource.setrlimit(resource.RLIMIT_NOFILE, (highest - 1, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))

SOFT = resource.getrlimit(resource.RLIMIT_NOFILE)
SCARCE = {
    "disk": (lambda: fill(root / "t"), lambda: (root / "t/filler").unlink()),
    "shared memory": (lambda: fill(Path("/dev/shm")), lambda: Path("/dev/shm/filler").unlink()),
    "run folder": (lambda: fill(root / "run"), lambda: (root / "run/filler").unlink()),
    "descriptors": (starve, lambda: resource.setrlimit(resource.RLIMIT_NOFILE, SOFT)),
}
begin, end = SCARCE[sys.argv[3]]
early = sys.argv[3] == "shared memory"

class Hand:
    name = "hand"
    def __init__(self, env=None): self.env = env
    def for_episode(self, env): return Hand(env)
    async def act(self, observation, history):
        if len(history) == 1 and self.env.instance.seed == 1 and not early:
            begin()
        return ADD if len(history) < 2 else Done()

def told(done):
    episode = done.episode
    return {"seed": episode.seed, "reward": episode.reward, "failure": episode.failure and [episode.failure.cause, episode.failure.message]}

async def main():
    out, store = [], RunStore(root / "run")
    async with Pool(load(gym), slots=1, retries=0, limits=Limits(step_s=5, reset_s=15), max_failure_rate=1) as pool:
        for seed in range(3):
            if seed == 1 and early:
                begin()
            try:
                async with aclosing(pool.run(Hand(), [Request("two", seed)], store)) as running:
                    out += [told(done) async for done in running]
            except StoreError as exc:
                out.append({"seed": seed, "store": str(exc), "ids": store.ids(), "done": sorted(store.done())})
            if seed == 1:
                end()
        out.append({"ids": store.ids(), "read": [e.id for e in store.episodes()]})
    out.append({"left": sorted(os.listdir(root / "t")), "tasks": len(asyncio.all_tasks())})
    print(json.dumps(out))

asyncio.run(main())
"""


def trial(root: Path, what: str) -> list[dict[str, Any]]:
    ran = subprocess.run(
        [*PRIVATE, sys.executable, "-c", TRIAL, str(GYM), str(root), what],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)},
        timeout=120,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    said: list[dict[str, Any]] = json.loads(ran.stdout.splitlines()[-1])
    return said


@pytest.mark.parametrize(
    ("what", "cause", "says"),
    [
        ("disk", "product", "no room is left where its work folder is"),
        ("descriptors", "product", ""),
    ],
)
def test_scarcity_is_one_failure_and_the_next_episode_is_clean(
    tmp_path: Path, what: str, cause: str, says: str
) -> None:
    before, scarce, after, stored, left = trial(tmp_path, what)
    assert before["reward"] == after["reward"] == 1.0
    assert scarce["reward"] is None and scarce["failure"][0] == cause and says in scarce["failure"][1]
    assert stored["ids"] == stored["read"] and len(stored["ids"]) == 3
    assert left == {"left": [], "tasks": 1}


def test_without_shared_memory_pictures_take_another_way(tmp_path: Path) -> None:
    *episodes, stored, left = trial(tmp_path, "shared memory")
    assert [episode["reward"] for episode in episodes] == [1.0, 1.0, 1.0]
    assert stored["ids"] == stored["read"] and len(stored["ids"]) == 3
    assert left == {"left": [], "tasks": 1}


def test_a_full_run_folder_stops_the_run_and_is_gone_on_with(tmp_path: Path) -> None:
    before, full, after, stored, left = trial(tmp_path, "run folder")
    assert before["reward"] == after["reward"] == 1.0
    assert "No space left" in full["store"] and "make room, then resume the run" in full["store"]
    assert full["ids"] == full["done"] == ["frail-two-0--0"]  # the one that was cut off counts for nothing
    assert stored["ids"] == stored["read"] == ["frail-two-0--0", "frail-two-2--0"]
    assert left == {"left": [], "tasks": 1}
