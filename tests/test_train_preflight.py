"""What is told before a run starts: bad settings, folders that are no checkpoint, and folders that would run code."""

from __future__ import annotations

import json
import pickle
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from uigym import load
from uigym.errors import ConfigError
from uigym.export import export_tasks
from uigym.models import families
from uigym.models.families.random import random_checkpoint
from uigym.models.families.safe import why
from uigym.models.tiny import tiny_checkpoint
from uigym.policy.hf import load_model
from uigym.train import preflight
from uigym.train.config import RunConfig
from uigym.train.start import train

Damage = Callable[[Path], Any]


def config(out: Path, **sections: Any) -> RunConfig:
    """A run of the general path that may start."""
    whole: dict[str, Any] = {
        "harness": "kiosk",
        "out": out,
        "policy": {"context": "window(1)", "max_tokens": 32, "limit": 1024},
        "inference": {"backend": "transformers"},
    }
    for name, values in sections.items():
        whole[name] = {**whole[name], **values} if isinstance(values, dict) and name in whole else values
    return RunConfig.model_validate(whole)


def complaints(chosen: RunConfig) -> list[str]:
    try:
        preflight.check(chosen, lambda line: None)
    except ConfigError as exc:
        return str(exc).splitlines()
    return []


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return random_checkpoint(tmp_path_factory.mktemp("model"), "qwen3_vl")


def test_a_run_that_can_start(tmp_path: Path, model: Path) -> None:
    assert complaints(config(tmp_path)) == []
    assert complaints(config(tmp_path, policy={"model": {"path": str(model)}, "limit": 4096})) == []
    assert complaints(RunConfig(harness="kiosk", out=tmp_path)) == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("sections", "line"),
    [
        ({"harness": "kiosq"}, 'harness: no harness "kiosq"'),
        ({"harness": "desk"}, "harness: a viewport of 1280 x 720 px would be resized for tiny"),
        ({"policy": {"model": {"path": "no/such"}}}, "policy.model.path: no checkpoint in no/such: expected a folder"),
        ({"policy": {"codec": "qwen"}}, "policy.codec: no model can be taught 'qwen'. Did you mean \"qwen3\""),
        ({"policy": {"codec": "anthropic"}}, "policy.codec: no model can be taught 'anthropic'."),
        ({"policy": {"limit": 300}}, "policy.context: window(1) with 1 screenshots of 320 tokens"),
        ({"policy": {"context": "hysteresis(1, 6)"}}, "policy.context: hysteresis(1, 6) with 6 screenshots of 320"),
        ({"policy": {"limit": 2048}}, "policy.limit: 2048 tokens are more than the 1024 that the model was made for"),
        ({"data": {"tags": ["shrot"]}}, "data: no task of kiosk has the tags ['shrot']. Tags:"),
        ({"data": {"train_data": ["no.parquet"]}}, "data.train_data: no task file no.parquet. Write it with: uigym export"),
        ({"trainer": {"algorithm": {"dual_clip": 1.1}}}, "trainer.algorithm: dual_clip must be more than 1 + clip_high"),
        ({"trainer": {"liger": True, "device": "cpu"}}, "trainer.liger needs a GPU, and this runs on a CPU"),
        ({"inference": {"backend": "vllm", "vllm": {"python": "no/python"}}}, "inference.vllm.python: 'no/python' is no"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_told_by_its_key(tmp_path: Path, sections: dict[str, Any], line: str) -> None:
    (told,) = complaints(config(tmp_path, **sections))
    assert told.startswith(line)


def test_everything_is_told_at_once_and_nothing_is_written(tmp_path: Path) -> None:
    wrong = config(tmp_path / "run", harness="kiosq", policy={"codec": "qwen"}, data={"val_data": ["no.parquet"]})
    assert [line.partition(":")[0] for line in complaints(wrong)] == ["harness", "policy.codec"]
    with pytest.raises(ConfigError, match="kiosq"):
        train(wrong, print)
    assert not (tmp_path / "run").exists()


async def test_task_files_of_others(tmp_path: Path) -> None:
    await export_tasks(load("desk"), tmp_path, seeds=range(1))
    (tmp_path / "text.parquet").write_text("task,seed\n")
    for path, line in (
        (tmp_path / "train.parquet", "holds tasks of desk, expected tasks of kiosk"),
        (tmp_path / "text.parquet", "is no"),
    ):
        (told,) = complaints(config(tmp_path, data={"train_data": [str(path)]}))
        assert told.startswith("data.train_data: ") and line in told


def test_the_tiny_models_words_are_for_the_tiny_model(tmp_path: Path, model: Path) -> None:
    (told,) = complaints(config(tmp_path, policy={"model": {"path": str(model)}, "codec": "tiny", "limit": 4096}))
    assert told.startswith("policy.codec: the tiny model's words, such as <click>, are not in the vocabulary of")
    (told,) = complaints(RunConfig.model_validate({"harness": "kiosk", "policy": {"model": {"path": str(model)}}}))
    assert told.startswith("policy.model.path: inference.backend: shared trains models that speak the tiny model's")


def test_a_clip_that_may_be_the_wrong_way_round_is_remarked(tmp_path: Path) -> None:
    said: list[str] = []
    preflight.check(config(tmp_path, trainer={"algorithm": {"clip": [0.28, 0.2]}}), said.append)
    assert said[0].startswith("trainer.algorithm.clip [0.28, 0.2] lets a ratio fall further than it may rise")


# --- checkpoint folders ---


class Boom:
    """What runs when it is unpickled."""

    def __reduce__(self) -> Any:
        return (Path.touch, (Path("ran"),))


def pickled(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps(Boom()))


def cut(folder: Path) -> None:
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1000])


def with_index(names: dict[str, str]) -> Damage:
    return lambda folder: (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": names}))


def without(name: str) -> Damage:
    return lambda folder: (folder / name).unlink()


def without_processor(folder: Path) -> None:
    (folder / "preprocessor_config.json").unlink()
    (folder / "processor_config.json").unlink()


@pytest.mark.parametrize(
    ("damage", "line"),
    [
        (pickled, r"no model.safetensors in .*; pytorch_model.bin is a pickle, which runs code when it is read"),
        (cut, r"the weights .*model.safetensors are damaged or missing: .*; copy the checkpoint again"),
        (with_index({"a": "model-1.safetensors"}), r"the weights .*model-1.safetensors are damaged or missing"),
        (with_index({"a": "../other.safetensors"}), r"names weights outside of its folder: '../other.safetensors'"),
        (lambda folder: (folder / "adapter_config.json").write_text("{}"), r"holds adapters .*: merge them into theirs"),
        (without("model.safetensors"), r"no model.safetensors in"),
        (without("tokenizer.json"), r"no tokenizer.json in .*: copy it from where"),
        (without("config.json"), r"no checkpoint in .*: expected a folder with config.json"),
        (without_processor, r"preprocessor_config.json cannot be read: .*No such file"),
        (lambda folder: (folder / "config.json").write_text("{"), r"config.json cannot be read: .*expected a checkpoint"),
        (lambda folder: (folder / "config.json").write_text('{"model_type": "llama"}'), r"holds a 'llama' model; expected one of"),
    ],
)  # fmt: skip
def test_a_folder_that_is_no_checkpoint_is_told(tmp_path: Path, model: Path, damage: Damage, line: str) -> None:
    folder = shutil.copytree(model, tmp_path / "model")
    damage(folder)
    told = complaints(config(tmp_path, policy={"model": {"path": str(folder)}, "limit": 4096}))
    assert len(told) == 1 and any(re.search(line, each) for each in told), told
    assert all(each.startswith("policy.model.path: ") for each in told)
    assert not (tmp_path / "ran").exists() and not Path("ran").exists()


def test_code_of_a_folder_is_never_run(tmp_path: Path, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_MODULES_CACHE", str(tmp_path / "cache"))
    folder = shutil.copytree(model, tmp_path / "hostile")
    (folder / "own.py").write_text(f"from pathlib import Path\nPath({str(tmp_path / 'ran')!r}).touch()\n")
    for name, own in (
        ("config.json", {"AutoConfig": "own.C", "AutoModelForImageTextToText": "own.M"}),
        ("tokenizer_config.json", {"AutoTokenizer": ["own.T", "own.T"]}),
    ):
        values = json.loads((folder / name).read_text())
        (folder / name).write_text(json.dumps({**values, "auto_map": own, "tokenizer_class": "Own"}))
    families.open(folder).load(folder, torch.float32, "cpu")  # what transformers has itself is taken
    values = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**values, "model_type": "own"}))
    with pytest.raises(ConfigError, match="holds a 'own' model; expected one of"):
        families.open(folder)
    assert not (tmp_path / "ran").exists()
    assert "never run" in why(ValueError("Please pass the argument `trust_remote_code=True`"))


def test_pickled_weights_are_never_read(tmp_path: Path) -> None:
    folder = shutil.copytree(tiny_checkpoint(), tmp_path / "tiny")
    pickled(folder)
    for look in (lambda: load_model(folder), lambda: families.open(folder).load(folder, torch.float32, "cpu")):
        with pytest.raises(ConfigError, match=r"pytorch_model.bin is a pickle"):
            look()
    assert not Path("ran").exists()
