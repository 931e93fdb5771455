"""A whole run in real Chromium: warm start, an update, a checkpoint, going on, and using what was learned."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from uigym import Agent
from uigym.errors import ConfigError, StoreError
from uigym.train.config import PolicyConfig, RunConfig
from uigym.train.start import train

pytestmark = pytest.mark.browser


def config(out: Path, max_updates: int) -> RunConfig:
    """So small that nothing is learned, but everything happens."""
    trainer = {
        "warm_start": {"demonstrations": 4, "epochs": 1, "batch_rows": 4},
        "algorithm": {"group_size": 2, "groups_per_step": 2, "minibatches": 1},
        **{"max_updates": max_updates, "save_every": 1, "threads": 1, "final_rate": 0.5},
    }
    data = {"tags": ["short"], "val_episodes": 2}
    return RunConfig.model_validate(
        {"harness": "kiosk", "out": out, "data": data, "trainer": trainer, "inference": {"slots": 2}}
    )


def rows(out: Path, phase: str) -> list[dict[str, float]]:
    lines = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    return [line for line in lines if line["phase"] == phase]


def test_a_run_is_begun_gone_on_with_and_used(tmp_path: Path) -> None:
    said: list[str] = []
    first = train(config(tmp_path, 1), said.append)
    assert first == tmp_path / "checkpoint-1"
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "checkpoint-1",
        "metrics.jsonl",
        "run.json",
        "training.html",
    ]
    told = json.loads((tmp_path / "run.json").read_text())
    assert told["config"]["harness"] == "kiosk" and told["versions"]["torch"] == torch.__version__
    assert rows(tmp_path, "warm_start") and [row["update"] for row in rows(tmp_path, "grpo")] == [1]
    assert rows(tmp_path, "grpo")[0]["episodes"] == 4 and rows(tmp_path, "grpo")[0]["failures"] == {}
    assert any(line.startswith("success on held-out seeds: ") for line in said)
    taught = load_file(first / "model.safetensors")["lm_head.weight"]

    again: list[str] = []
    second = train(config(tmp_path, 2), again.append)
    assert second == tmp_path / "checkpoint-2" and not first.exists()
    assert f"going on from {first} after 1 updates" in again and not any("demonstrations" in line for line in again)
    assert [(row["update"], row["rate"]) for row in rows(tmp_path, "grpo")] == [(1, 1.0), (2, 0.75)]
    assert len(rows(tmp_path, "test")) == 2
    progress = json.loads((second / "progress.json").read_text())
    assert [row["update"] for row in progress["curve"]] == [1, 2] and progress["practice"]["drawn"] == 4
    if rows(tmp_path, "grpo")[1]["groups"]:
        assert not torch.equal(load_file(second / "model.safetensors")["lm_head.weight"], taught)

    kept = (tmp_path / "run.json").read_text()
    other = config(tmp_path, 3).model_copy(update={"seed": 9, "policy": PolicyConfig(temperature=0.5)})
    with pytest.raises(ConfigError, match=r"holds a run with policy.temperature 1.0 \(now 0.5\), seed 0 \(now 9\)"):
        train(other, print)
    assert (tmp_path / "run.json").read_text() == kept and second.exists()

    trial = Agent.from_checkpoint(tmp_path).run_task("kiosk/open_category", episodes=2, max_steps=2, slots=2)
    assert len(trial.episodes) == 2 and 0 <= trial.success_rate <= 1
    assert all(episode.policy == "checkpoint-2" and episode.verdict for episode in trial.episodes)


def test_a_folder_that_cannot_be_written_is_told_before_anything_starts(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match=r"cannot write into the run folder .*file"):
        train(config(tmp_path / "file", 1), print)


def test_another_models_checkpoint_is_told(tmp_path: Path) -> None:
    (tmp_path / "checkpoint-3").mkdir()
    (tmp_path / "checkpoint-3" / "progress.json").write_text('{"update": 3}')
    with pytest.raises(ConfigError, match=r"cannot resume from .*checkpoint-3"):
        train(config(tmp_path, 5), print)
