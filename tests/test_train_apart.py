"""An engine in a process of its own: it says and learns what one here does, and its end is noticed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from rows import sampled

from uigym.errors import ConfigError, UIGymError
from uigym.models import families
from uigym.models.families.random import random_checkpoint
from uigym.train.engine import Apart, Engine, EngineSettings
from uigym.train.losses import LossSettings

SETTINGS = EngineSettings(rate=1e-3, precision="fp32", recompute=0.5)
LOSS = LossSettings(importance="none")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return random_checkpoint(tmp_path_factory.mktemp("model"), "qwen3_vl")


@pytest.fixture
def apart(folder: Path) -> Iterator[Apart]:
    made = Apart(families.open(folder), folder, SETTINGS, loss=LOSS, device="cpu")
    yield made
    made.close()


def test_it_learns_what_an_engine_here_learns(apart: Apart, folder: Path, tmp_path: Path) -> None:
    here = Engine(families.open(folder), folder, SETTINGS, loss=LOSS, device="cpu")
    rows, pngs = sampled(here.family, [2, 0, 1, 1])
    try:
        assert apart.ranks.count == 1
        assert apart.score(rows, pngs) == here.score(rows, pngs)
        for learner in (apart, here):
            learner.imitate(rows, pngs, rate=1e-3)
        given = {"denominator": 4.0, "old": here.score(rows, pngs), "rate": 5e-4}
        ours, theirs = (e.train(rows, [1.0, -1.0, 0.5, -0.5], pngs, **given) for e in (here, apart))
        assert theirs == ours and ours["rate"] == 5e-4
        given_out, held = dict(apart.named()), dict(here.named())
        assert given_out.keys() == held.keys()
        assert all(torch.equal(tensor, held[name]) for name, tensor in given_out.items())
        apart.checkpoint(tmp_path / "checkpoint", {"updates": 2})
        before = apart.score(rows, pngs)
        apart.imitate(rows, pngs)
        assert apart.score(rows, pngs) != before
        assert apart.resume(tmp_path / "checkpoint") == {"updates": 2}
        assert apart.score(rows, pngs) == before
    finally:
        here.close()


def test_its_errors_are_those_of_an_engine_here(apart: Apart, folder: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot resume from"):
        apart.resume(tmp_path / "nowhere")
    with pytest.raises(ConfigError, match=r"pip install .*vllm"):  # there is none here
        apart.send("nccl", "http://127.0.0.1:9", 3)
    with pytest.raises(ConfigError, match="compile needs a GPU"):
        Apart(families.open(folder), folder, EngineSettings(precision="fp32", compile=True), device="cpu")
    assert apart.score(*sampled(apart.family, [1]))  # it goes on after an error


def test_a_killed_process_is_an_error_that_says_so(apart: Apart) -> None:
    os.kill(apart.pid, signal.SIGKILL)
    with pytest.raises(UIGymError, match=r"has ended with code -9 in score.*goes on from its newest checkpoint"):
        apart.score(*sampled(apart.family, [1]))


def test_it_ends_with_the_run_that_was_killed(folder: Path) -> None:
    code = (
        "import sys, time; from pathlib import Path; from uigym.models import families; "
        "from uigym.train.engine import Apart, EngineSettings; folder = Path(sys.argv[1]); "
        "e = Apart(families.open(folder), folder, EngineSettings(precision='fp32'), device='cpu'); "
        "print(e.pid, flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", code, str(folder)], stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        pid = int(run.stdout.readline())
        run.kill()
    deadline = time.monotonic() + 30
    while Path(f"/proc/{pid}").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not Path(f"/proc/{pid}").exists()
