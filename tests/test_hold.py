"""Two processes that want one folder of results: one gets it, the other is told so."""

from __future__ import annotations

import gc
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from uigym.errors import StoreError
from uigym.hold import hold
from uigym.policy.scripted import NoOpPolicy
from uigym.registry import load
from uigym.rollout import Pool, Request
from uigym.store import RunStore
from uigym.types import Cause, Episode, Failure, Stop

LOST = Episode("e", "pad", "add", 1, {}, "Do.", (), Stop.ERROR, failure=Failure(Cause.BROWSER, "it crashed"))
OWNER = """
import sys, time
from uigym.store import RunStore
store = RunStore(sys.argv[1])
store.claim()
print("mine", flush=True)
time.sleep(60)
"""


@contextmanager
def another_writer(folder: Path) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen([sys.executable, "-c", OWNER, str(folder)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "mine\n"
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def test_a_folder_has_one_writer_and_any_number_of_readers(tmp_path: Path) -> None:
    RunStore(tmp_path).write(LOST, {})
    gc.collect()
    with another_writer(tmp_path):
        reader = RunStore(tmp_path)
        assert list(reader.episodes()) == [LOST]
        with pytest.raises(StoreError, match=f"another process is writing {tmp_path}: let it end, or name another"):
            reader.write(LOST, {})
        assert list(reader.episodes()) == [LOST]  # the refused writer has dropped nothing
    reader.write(LOST, {})


def test_the_way_to_the_folder_does_not_matter(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "other").symlink_to(tmp_path / "run")
    with another_writer(tmp_path / "run"), pytest.raises(StoreError, match="another process"):
        RunStore(tmp_path / "other").claim()


def test_within_one_process_a_folder_is_shared_until_the_last_lets_go(tmp_path: Path) -> None:
    first, second = RunStore(tmp_path), RunStore(tmp_path)
    first.claim()
    second.claim()
    assert first._hold is second._hold
    del first
    gc.collect()
    asked = [sys.executable, "-c", OWNER.replace("time.sleep(60)", ""), str(tmp_path)]
    refused = subprocess.run(asked, capture_output=True, text=True, check=False)
    assert "StoreError: another process is writing" in refused.stderr
    del second
    gc.collect()
    assert subprocess.run(asked, capture_output=True, text=True, check=False).stdout == "mine\n"


def test_a_folder_that_is_not_there_cannot_be_held(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"cannot write .*No such file"):
        hold(tmp_path / "nowhere")


async def test_a_run_is_refused_before_an_episode_begins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pool = Pool(load(str(Path(__file__).parent / "gyms" / "pad.py")), slots=1)
    monkeypatch.setattr(pool, "_open", True)
    with another_writer(tmp_path), pytest.raises(StoreError, match="another process"):
        async for _ in pool.run(NoOpPolicy(), [Request("count", 0)], RunStore(tmp_path)):
            pass
    assert RunStore(tmp_path).ids() == []
