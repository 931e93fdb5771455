"""Checkpoints: exact, whole or not there, and readable by other tools."""

from __future__ import annotations

import asyncio
import json
import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoTokenizer, Qwen3VLForConditionalGeneration

from uigym.errors import ConfigError, StoreError
from uigym.policy.hf import TransformersPolicy
from uigym.train import checkpoint
from uigym.train.learner import Learner, Rates
from uigym.train.rows import Row
from uigym.types import Observation

Picture = Callable[..., bytes]
Tiny = Callable[..., TransformersPolicy]
CLIP = (0.2, 0.28)


@pytest.fixture
def begin(tiny: Tiny) -> Callable[[], Learner]:
    def make(seed: int = 0) -> Learner:
        return Learner(tiny(seed=seed), 64, 48, rates=Rates(1e-3, 1e-3))

    return make


def play(policy: TransformersPolicy, picture: Picture) -> tuple[list[Row], dict[str, bytes]]:
    seen = [Observation(picture(n), 64, 48, f"Open item {n}.") for n in range(4)]

    async def ask() -> list[Row]:
        return [decision.sample for decision in await asyncio.gather(*(policy.act(o, ()) for o in seen))]

    return asyncio.run(ask()), {o.image_hash: o.png for o in seen}


def update(learner: Learner, picture: Picture) -> tuple[list[Row], dict[str, float]]:
    """Sample, and take a step on what was sampled."""
    rows, pngs = play(learner.policy, picture)
    return rows, learner.reinforce(rows, [1.0, -1.0, 0.5, -0.5], pngs, denominator=20.0, clip=CLIP)


def same(one: Learner, other: Learner) -> bool:
    ours, theirs = one.policy.model.state_dict(), other.policy.model.state_dict()
    return ours.keys() == theirs.keys() and all(torch.equal(ours[name], theirs[name]) for name in ours)


def test_a_resumed_run_is_the_run(begin: Callable[..., Learner], picture: Picture, tmp_path: Path) -> None:
    """Bit for bit: replies, log-probabilities, what the step says, and the weights after it."""
    whole = begin()
    update(whole, picture)
    whole.scale_rates(0.5)
    update(whole, picture)
    checkpoint.save(tmp_path / "checkpoint-2", whole, {"update": 2, "version": whole.policy.version})
    resumed = begin(seed=99)
    progress = checkpoint.load(tmp_path / "checkpoint-2", resumed)
    assert progress == {"update": 2, "version": 2} and resumed.policy.version == 2 and same(whole, resumed)
    for _ in range(2):
        assert update(whole, picture) == update(resumed, picture)
        assert same(whole, resumed)


def test_saving_leaves_the_run_as_it_is(begin: Callable[..., Learner], picture: Picture, tmp_path: Path) -> None:
    """Weights are rounded for other tools; those in training are not."""
    saved, other = begin(), begin()
    for learner in (saved, other):
        update(learner, picture)
    checkpoint.save(tmp_path / "checkpoint-1", saved, {"version": 1})
    assert same(saved, other) and saved.policy.model.dtype == torch.float32
    assert update(saved, picture) == update(other, picture) and same(saved, other)


def test_other_tools_load_the_folder(begin: Callable[..., Learner], picture: Picture, tmp_path: Path) -> None:
    learner = begin()
    update(learner, picture)
    folder = checkpoint.save(tmp_path / "checkpoint-1", learner, {"version": 1})
    plain = Qwen3VLForConditionalGeneration.from_pretrained(folder)
    assert plain.dtype == torch.bfloat16
    trained = learner.policy.model.state_dict()
    assert all(torch.equal(value, trained[name].bfloat16()) for name, value in plain.state_dict().items())
    assert AutoTokenizer.from_pretrained(folder).encode("<click>") == learner.policy.prompts.action("<click>")
    asked = Observation(picture(), 64, 48, "Open item 0.")
    again = asyncio.run(TransformersPolicy(folder, temperature=0.0).act(asked, ()))
    learner.policy.temperature = 0.0
    here = asyncio.run(learner.policy.act(asked, ()))
    assert here.sample.logprobs[0] == pytest.approx(again.sample.logprobs[0], abs=0.2)


def test_nothing_is_pickled(begin: Callable[..., Learner], tmp_path: Path) -> None:
    folder = checkpoint.save(tmp_path / "checkpoint-0", begin(), {"version": 0})
    assert {file.suffix for file in folder.iterdir()} <= {".json", ".safetensors", ".jinja"}
    assert [entry.name for entry in tmp_path.iterdir()] == ["checkpoint-0"]


# --- interrupted ---------------------------------------------------------------------------------------------


@contextmanager
def full_disk(limit: int) -> Iterator[None]:
    """No file may grow beyond `limit` bytes, as on a disk that is full."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("limit", [1_000, 1_000_000, 8_000_000])
def test_a_full_disk_leaves_the_former_checkpoint(
    begin: Callable[..., Learner], picture: Picture, tmp_path: Path, limit: int
) -> None:
    learner, former = begin(), begin()
    folder = checkpoint.save(tmp_path / "checkpoint-3", learner, {"version": 0})
    update(learner, picture)
    with full_disk(limit), pytest.raises(StoreError, match=r"cannot write the checkpoint .*checkpoint-3: "):
        checkpoint.save(folder, learner, {"version": 1})
    assert checkpoint.latest(tmp_path) == folder and checkpoint.load(folder, former) == {"version": 0}
    assert same(former, begin()) and [entry.name for entry in tmp_path.iterdir()] == ["checkpoint-3"]


def test_what_a_killed_run_leaves_is_not_trusted(begin: Callable[..., Learner], tmp_path: Path) -> None:
    folder = checkpoint.save(tmp_path / "checkpoint-9", begin(), {"version": 0})
    (tmp_path / ".checkpoint-10.draft").mkdir()
    (tmp_path / ".checkpoint-10.draft" / "progress.json").write_text("{}")
    (tmp_path / "checkpoint-11").mkdir()
    (tmp_path / "checkpoint-11" / "config.json").write_text("{}")
    assert checkpoint.latest(tmp_path) == folder
    checkpoint.save(tmp_path / "checkpoint-10", begin(), {"version": 4})
    assert checkpoint.latest(tmp_path) == tmp_path / "checkpoint-10", "by number, not by name"
    assert not list(tmp_path.glob(".*"))


def test_saving_again_replaces(begin: Callable[..., Learner], tmp_path: Path) -> None:
    for version in (0, 5):
        folder = checkpoint.save(tmp_path / "checkpoint-1", begin(), {"version": version})
    assert checkpoint.load(folder, begin()) == {"version": 5}
    checkpoint.remove(folder)
    assert checkpoint.latest(tmp_path) is None and not folder.exists()
    checkpoint.remove(folder)


# --- another run's -------------------------------------------------------------------------------------------


def test_a_checkpoint_of_another_model_is_refused(begin: Callable[..., Learner], tmp_path: Path) -> None:
    folder = checkpoint.save(tmp_path / "checkpoint-1", begin(), {"version": 0})
    weights = load_file(folder / "weights.fp32.safetensors")
    weights["lm_head.weight"] = weights["lm_head.weight"][:, :-8].contiguous()
    save_file(weights, folder / "weights.fp32.safetensors")
    with pytest.raises(ConfigError, match=r"(?s)cannot resume from .*checkpoint-1: RuntimeError: .*lm_head"):
        checkpoint.load(folder, begin())


@pytest.mark.parametrize("name", ["progress.json", "optimizer.safetensors", "weights.fp32.safetensors"])
@pytest.mark.parametrize("damage", ["gone", "cut", "empty"])
def test_damaged_files_are_told(begin: Callable[..., Learner], tmp_path: Path, name: str, damage: str) -> None:
    folder = checkpoint.save(tmp_path / "checkpoint-1", begin(), {"version": 0})
    file = folder / name
    if damage == "gone":
        file.unlink()
    else:
        file.write_bytes(file.read_bytes()[: file.stat().st_size // 2] if damage == "cut" else b"")
    with pytest.raises(ConfigError, match=r"cannot resume from .*checkpoint-1: "):
        checkpoint.load(folder, begin())


@pytest.mark.parametrize("text", ["[]", "{}", '{"version": 0}', '{"version": "x", "optimizer": [], "random": ""}'])
def test_progress_of_something_else_is_told(begin: Callable[..., Learner], tmp_path: Path, text: str) -> None:
    folder = checkpoint.save(tmp_path / "checkpoint-1", begin(), {"version": 0})
    (folder / "progress.json").write_text(text)
    with pytest.raises(ConfigError, match=r"cannot resume from .*checkpoint-1: "):
        checkpoint.load(folder, begin())


def test_progress_is_json(begin: Callable[..., Learner], tmp_path: Path) -> None:
    folder = checkpoint.save(tmp_path / "checkpoint-1", begin(), {"version": 0, "curve": [{"reward": 0.5}]})
    assert json.loads((folder / "progress.json").read_text())["curve"] == [{"reward": 0.5}]
