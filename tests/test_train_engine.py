"""The engine: one process and two, float32 and bfloat16, and going on where a checkpoint ends."""

from __future__ import annotations

import dataclasses
import itertools
import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from rows import sampled
from safetensors.torch import load_file
from transformers import AutoConfig
from transformers.models.qwen2_5_vl.modeling_qwen2_5_vl import Qwen2_5_VisionTransformerPretrainedModel
from workers import engine_rank

from uigym.errors import ConfigError
from uigym.models import families
from uigym.models.families.family import Family
from uigym.models.families.forward import log_probabilities
from uigym.models.families.random import random_checkpoint
from uigym.train.engine import Engine, EngineSettings, Lora
from uigym.train.engine.plan import plan
from uigym.train.engine.vision import attend_windows
from uigym.train.windows import Window

Rows = tuple[list[Window], dict[str, bytes]]
Begin = Callable[..., Engine]
VISION = {"depth": 2, "hidden_size": 64, "num_heads": 2, "intermediate_size": 64, "out_hidden_size": 64, "window_size": 56, "fullatt_block_indexes": [1]}  # fmt: skip
WORKER = Path(__file__).parent / "workers" / "engine_rank.py"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return random_checkpoint(tmp_path_factory.mktemp("model"), "qwen3_vl")


@pytest.fixture(scope="module")
def family(folder: Path) -> Family:
    return families.open(folder)


@pytest.fixture(scope="module")
def rows(family: Family) -> Rows:
    return sampled(family, [2, 0, 1, 1])


@pytest.fixture
def begin(folder: Path) -> Iterator[Begin]:
    engines: list[Engine] = []

    def make(where: Path = folder, **settings: Any) -> Engine:
        given = {"rate": 1e-3, "precision": "fp32", "recompute": 0.5, **settings}
        engines.append(Engine(families.open(where), where, EngineSettings(**given), device="cpu"))
        return engines[-1]

    yield make
    for engine in engines:
        engine.close()


def flat(scores: list[list[float]]) -> torch.Tensor:
    return torch.tensor([x for row in scores for x in row])


def as_scored(engine: Engine, rows: Rows) -> list[Window]:
    scores = engine.score(*rows)
    return [dataclasses.replace(row, logprobs=tuple(score)) for row, score in zip(rows[0], scores, strict=True)]


# --- the plan ---


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("lengths", [[], [7], [3, 3, 3, 3], [100, 1, 1, 1, 40, 41, 39], list(range(1, 30))])
def test_every_window_is_in_one_batch_and_every_rank_in_every_round(
    lengths: list[int], ranks: int, packed: bool
) -> None:
    rounds = plan(lengths, ranks, 50, packed=packed)
    assert sorted(i for batches in rounds for batch in batches for i in batch) == list(range(len(lengths)))
    assert all(len(batches) == ranks for batches in rounds)
    for batch in (batch for batches in rounds for batch in batches if len(batch) > 1):
        own = [lengths[i] for i in batch]
        assert (sum(own) if packed else max(own) * len(own)) <= 50


# --- one process ---


def test_scores_are_those_of_the_forward_pass(begin: Begin, family: Family, folder: Path, rows: Rows) -> None:
    engine = begin(budget=10_000)
    model = family.load(folder, torch.float32, "cpu")
    with torch.no_grad():
        expected, _ = log_probabilities(family, model, *rows)
    assert torch.allclose(flat(engine.score(*rows)), expected, atol=1e-5)


@pytest.mark.parametrize("settings", [{"budget": 1}, {"packed": True, "budget": 5000}, {"recompute": 0.0}])
def test_micro_batches_change_nothing(begin: Begin, rows: Rows, settings: dict[str, Any]) -> None:
    one, other = begin(budget=10_000), begin(**settings)
    said = [
        engine.train(as_scored(engine, rows), [1.0, -1.0, 0.5, -0.25], rows[1], denominator=30.0)
        for engine in (one, other)
    ]
    assert said[0] == pytest.approx(said[1], rel=1e-4, abs=1e-5)
    assert torch.allclose(flat(one.score(*rows)), flat(other.score(*rows)), atol=2e-3)


def test_advantages_may_differ_between_the_replies_of_a_window(begin: Begin, rows: Rows) -> None:
    engine = begin()
    before = engine.score(*rows)[0]
    half = len(before) // 2
    windows = as_scored(engine, rows)
    for _ in range(3):
        said = engine.train(windows[:1], [[1.0, -1.0]], rows[1], denominator=10.0)
    change = torch.tensor(engine.score(*rows)[0]) - torch.tensor(before)
    assert change[:half].mean() > 0 > change[half:].mean()
    assert said["replies"] == len(before) and said["skipped"] == 0


def test_imitation_learns(begin: Begin, rows: Rows) -> None:
    engine = begin()
    said = [engine.imitate(*rows) for _ in range(8)]
    assert said[0]["rate"] == 1e-3 and engine.imitate(*rows, rate=5e-4)["rate"] == 5e-4
    assert said[-1]["loss"] < said[0]["loss"] - 0.5


@pytest.mark.parametrize("vision", [False, True])
def test_the_vision_tower_learns_if_it_is_to(begin: Begin, folder: Path, rows: Rows, vision: bool) -> None:
    engine = begin(vision=vision)
    engine.imitate(*rows)
    before = load_file(folder / "model.safetensors")
    changed = {name for name, value in engine.named() if not torch.equal(value, before[name])}
    assert any("visual" in name for name in changed) == vision
    assert any("language_model" in name for name in changed)


def test_a_gradient_that_is_no_number_changes_nothing(begin: Begin, rows: Rows) -> None:
    engine = begin()
    before = engine.score(*rows)
    said = engine.train(as_scored(engine, rows)[:1], [float("inf")], rows[1], denominator=1.0)
    assert said["skipped"] == 1 and engine.updates == 0 and engine.score(*rows) == before


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_it_goes_on_exactly_where_a_checkpoint_ends(begin: Begin, rows: Rows, tmp_path: Path, precision: str) -> None:
    engine = begin(precision=precision)
    engine.imitate(*rows)
    engine.checkpoint(tmp_path / "one", {"seen": [1, 2]})
    expected = [engine.imitate(*rows), engine.score(*rows)]
    other = begin(tmp_path / "one", precision=precision)  # the checkpoint is a folder to begin from as well
    assert other.resume(tmp_path / "one") == {"seen": [1, 2]} and other.updates == 1
    assert [other.imitate(*rows), other.score(*rows)] == expected
    assert engine.resume(tmp_path / "one") and [engine.imitate(*rows), engine.score(*rows)] == expected
    assert [path.name for path in tmp_path.iterdir()] == ["one"]


def test_a_folder_without_a_state_is_not_resumed(begin: Begin, folder: Path) -> None:
    with pytest.raises(ConfigError, match="cannot resume"):
        begin().resume(folder)


@pytest.mark.parametrize("kind", ["qwen2_5_vl", "qwen3_vl", "smolvlm"])
def test_what_is_saved_is_a_checkpoint_of_the_family(begin: Begin, tmp_path: Path, kind: str) -> None:
    source = random_checkpoint(tmp_path / "source", kind)
    engine = begin(source)
    engine.save(tmp_path / "saved")
    there, here = load_file(source / "model.safetensors"), load_file(tmp_path / "saved" / "model.safetensors")
    assert there.keys() == here.keys() == dict(engine.named()).keys()
    assert all(torch.equal(there[name], here[name]) for name in there)
    assert {path.name for path in source.iterdir()} == {path.name for path in (tmp_path / "saved").iterdir()}
    assert families.open(tmp_path / "saved").name == kind


def test_settings_are_checked(begin: Begin) -> None:
    for given in ({"temperature": 0.0}, {"precision": "fp8"}, {"recompute": 2.0}, {"vision": True, "lora": Lora()}):
        with pytest.raises(ConfigError):
            EngineSettings(**given)  # type: ignore[arg-type]
    for name in ("liger", "compile", "windows"):
        with pytest.raises(ConfigError, match="needs a GPU"):
            begin(**{name: True, "precision": "bf16"})


def test_adapters_learn_and_are_merged(begin: Begin, rows: Rows, tmp_path: Path) -> None:
    pytest.importorskip("peft")
    engine = begin(lora=Lora(rank=4, alpha=8.0))
    for _ in range(3):
        engine.imitate(*rows)
    engine.checkpoint(tmp_path / "one")
    merged = begin(tmp_path / "one")
    assert torch.allclose(flat(merged.score(*rows)), flat(engine.score(*rows)), atol=1e-4)
    expected = engine.imitate(*rows)
    other = begin(lora=Lora(rank=4, alpha=8.0))
    other.resume(tmp_path / "one")
    assert other.imitate(*rows) == expected


# --- two processes ---


def launched(folder: Path, out: Path, precision: str, count: int) -> dict[str, Any]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    place = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1"}
    ranks = []
    for number in range(count):
        own = {"RANK": str(number), "LOCAL_RANK": str(number), "WORLD_SIZE": str(count)}
        command = [sys.executable, str(WORKER), str(folder), str(out), precision]
        ranks.append(subprocess.Popen(command, env={**os.environ, **place, **own}, stderr=subprocess.PIPE, text=True))
    try:
        said = [rank.communicate(timeout=240)[1] for rank in ranks]
        assert [rank.returncode for rank in ranks] == [0] * count, said
    finally:
        for rank in ranks:
            rank.kill()
            rank.wait()
    return dict(json.loads(out.with_suffix(".json").read_text()))


@pytest.mark.parametrize("precision", ["fp32", pytest.param("bf16", marks=pytest.mark.slow)])
def test_two_processes_learn_what_one_does(folder: Path, tmp_path: Path, precision: str) -> None:
    """Three rows on two ranks: in the second round one takes part with a row that does not count. One has no picture."""
    alone = engine_rank.begin(folder, precision)
    one = engine_rank.learn(alone, tmp_path / "one")
    two = launched(folder, tmp_path / "two", precision, 2)
    near = 1e-4 if precision == "fp32" else 2e-2
    for mine, theirs in zip(one["numbers"], two["numbers"], strict=True):
        assert theirs == pytest.approx(mine, rel=near, abs=near)
    assert two["weights"] == pytest.approx(one["weights"], rel=near)
    assert alone.resume(tmp_path / "two") == {"seen": 2}  # one process reads what two wrote
    again = alone.imitate(*sampled(alone.family, [2, 0, 1]))
    assert again == pytest.approx(two["numbers"][2], rel=near, abs=near)
    alone.close()


def test_windows_are_attended_to_each_for_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel is the GPU's; here a loop stands for it, so that the layout and the bounds are what is tested."""

    def loop(q: Any, k: Any, v: Any, at: Any, _: Any, most: int, __: int, *, scale: float) -> torch.Tensor:
        assert most == int((at[1:] - at[:-1]).max())
        parts = [tuple(x[a:b].transpose(0, 1) for x in (q, k, v)) for a, b in itertools.pairwise(at.tolist())]
        done = [torch.nn.functional.scaled_dot_product_attention(*part, scale=scale) for part in parts]
        return torch.cat([part.transpose(0, 1) for part in done])

    monkeypatch.setattr("torch.nn.attention.varlen.varlen_attn", loop)
    source = AutoConfig.for_model("qwen2_5_vl", vision_config=VISION).vision_config
    source._attn_implementation = "sdpa"
    torch.manual_seed(0)
    tower = Qwen2_5_VisionTransformerPretrainedModel(source).eval()
    pixels, grid = torch.randn(8 * 12, 3 * 2 * 14 * 14), torch.tensor([[1, 8, 12]])
    expected = tower(pixels, grid_thw=grid).pooler_output
    attend_windows(tower)
    assert torch.allclose(tower(pixels, grid_thw=grid).pooler_output, expected, atol=1e-5)
