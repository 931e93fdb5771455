"""The general path of `uigym train` in real Chromium: warm start, updates, checkpoints, going on, and use."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fake_vllm
import pytest
import torch
from safetensors.torch import load_file

from uigym import Agent, load
from uigym.errors import ConfigError
from uigym.models import families
from uigym.models.tiny import tiny_checkpoint
from uigym.policy.chat import ChatPolicy
from uigym.policy.contexts import parse
from uigym.policy.sampler import Sampling
from uigym.policy.scripted import OraclePolicy
from uigym.rollout import Request, rollout
from uigym.train.config import RunConfig
from uigym.train.start import train
from uigym.train.teaching import Prompter, taught
from uigym.types import Click

pytestmark = pytest.mark.browser


def config(out: Path, max_updates: int, **trainer: Any) -> RunConfig:
    """So small that nothing is learned, but everything happens."""
    learns = {
        "warm_start": {"demonstrations": 4, "epochs": 1, "batch_rows": 4, "lr": 1e-4},
        "algorithm": {"group_size": 2, "groups_per_step": 2, "refills": 0, "passes": 2, "minibatches": 2, **trainer},
        **{"max_updates": max_updates, "save_every": 1, "threads": 1, "precision": "fp32", "max_staleness": 0},
    }
    return RunConfig.model_validate(
        {
            "harness": "kiosk",
            "out": out,
            "data": {"tasks": ["add_item", "open_ready"], "val_episodes": 2},
            "policy": {"context": "hysteresis(1, 2)", "max_tokens": 24, "limit": 1024},
            "trainer": learns,
            "inference": {"backend": "transformers", "slots": 2},
        }
    )


def rows(out: Path, phase: str) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    return [line for line in lines if line["phase"] == phase]


def test_a_run_is_begun_gone_on_with_and_used(tmp_path: Path) -> None:
    said: list[str] = []
    first = train(config(tmp_path, 1), said.append)
    assert first == tmp_path / "checkpoint-1" and "4 of 4 demonstrations succeeded" in said
    files = sorted(path.name for path in tmp_path.iterdir())
    assert files == ["checkpoint-1", "episodes.jsonl", "metrics.jsonl", "pictures", "run.json", "training.html"]
    assert [row["update"] for row in rows(tmp_path, "test")] == [0, 1] and rows(tmp_path, "warm_start")
    [row] = rows(tmp_path, "grpo")
    assert row["episodes"] == 4 and 0 <= row["reward/mean"] <= 1 and row["staleness/max"] == 0
    assert 0 < row["util/env"] <= 1 and row["time/rollout"] > 0
    page = (tmp_path / "training.html").read_text()
    assert "on seeds that it never trained on" in page and page.count("<details") >= 8

    again: list[str] = []
    second = train(config(tmp_path, 2), again.append)
    assert second == tmp_path / "checkpoint-2" and not first.exists()
    assert f"going on from {first} after 1 updates" in again and not any("demonstrations" in line for line in again)
    assert [row["update"] for row in rows(tmp_path, "grpo")] == [1, 2]

    with pytest.raises(ConfigError, match=r"holds a run with trainer.algorithm.group_size 2 \(now 3\)"):
        train(config(tmp_path, 3, group_size=3), print)

    trial = Agent.from_checkpoint(tmp_path).run_task("kiosk/open_ready", episodes=2, max_steps=2, slots=2)
    assert len(trial.episodes) == 2 and all(episode.policy == "checkpoint-2" for episode in trial.episodes)


@pytest.fixture
def server() -> Iterator[str]:
    """Address of a stand-in for vLLM that serves the tiny model."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    program = subprocess.Popen([sys.executable, fake_vllm.__file__, str(tiny_checkpoint()), str(port)])
    yield f"http://127.0.0.1:{port}"
    program.terminate()
    program.wait()


def test_a_server_samples_and_gets_the_weights(tmp_path: Path, server: str) -> None:
    remote = config(tmp_path, 1, passes=1, minibatches=1, kl=0.01).model_dump()
    remote["inference"] |= {"backend": "vllm", "vllm": {"url": server}}
    remote["trainer"]["warm_start"]["demonstrations"] = 0
    folder = train(RunConfig.model_validate(remote), lambda line: None)
    [row] = rows(tmp_path, "grpo")
    assert folder.name == "checkpoint-1" and row["episodes"] == 4 and row["staleness/max"] == 0
    assert row.get("gap/mean", 0.0) < 1e-3 and (tmp_path / "reference" / "model.safetensors").is_file()


def test_more_than_the_devices_there_are_is_told(tmp_path: Path) -> None:
    wrong = config(tmp_path, 1)
    trainer = wrong.trainer.model_copy(update={"strategy": "fsdp2"})
    with pytest.raises(ConfigError, match=r"trainer.strategy: fsdp2 with 1 processes: start fsdp2 with `torchrun"):
        train(wrong.model_copy(update={"trainer": trainer}), print)


@pytest.mark.parametrize("context", ["window(1)", "hysteresis(1, 2)", "full"])
async def test_demonstrations_are_what_the_policy_would_have_seen_and_said(context: str) -> None:
    family = families.open("tiny")
    policy = ChatPolicy(family, Prompter(), parse(context), Sampling(max_tokens=32))
    shown = [done async for done in rollout(load("kiosk"), OraclePolicy(), [Request("large_price", 3)], slots=1)]
    found = await taught(policy, shown[0])
    steps = shown[0].episode.steps
    assert sum(len(window.replies) for window in found) == len(steps) == 3
    assert len(found) == {"window(1)": 3, "hysteresis(1, 2)": 2, "full": 1}[context]
    spoken = [family.text(window.ids[start:end]) for window in found for start, end in window.replies]
    assert spoken[0].startswith("click") or isinstance(steps[0].action, Click)
    model = family.load(Path(family.folder), torch.float32, "cpu")  # type: ignore[attr-defined]
    inputs = family.inputs(found, shown[0].images, "cpu", torch.float32)
    assert torch.isfinite(model(**inputs).logits).all()


def test_a_checkpoint_can_be_loaded_by_others(tmp_path: Path) -> None:
    folder = train(config(tmp_path, 0), lambda line: None)
    assert folder.name == "checkpoint-0" and "lm_head.weight" in load_file(folder / "model.safetensors")
    assert (folder / "tokenizer.json").is_file() and (folder / "policy.json").is_file()
