"""The run file: what it means, and what is said about a wrong one."""

from __future__ import annotations

from pathlib import Path

import pytest

from uigym.errors import ConfigError
from uigym.train.config import RunConfig, every_key, load

ROOT = Path(__file__).parent.parent
GOOD = """\
harness: kiosk
data:
  tags: [short]
trainer:
  algorithm:
    name: grpo
    clip: [0.1, 0.3]
  max_updates: 3
"""


@pytest.fixture
def run_file(tmp_path: Path) -> Path:
    path = tmp_path / "run.yaml"
    path.write_text(GOOD)
    return path


def test_a_run_file_with_overrides(run_file: Path) -> None:
    overrides = [
        "trainer.max_updates=7",
        "inference.slots=2",
        "logger=[jsonl, wandb]",
        "trainer.max_seconds=1e2",
        "seed=4",
    ]
    config = load(run_file, overrides)
    assert config.data.tags == ("short",) and config.trainer.algorithm.clip == (0.1, 0.3)
    assert (config.trainer.max_updates, config.inference.slots, config.seed) == (7, 2, 4)
    assert config.logger == ("jsonl", "wandb") and config.trainer.max_seconds == 100
    assert config.policy.model.path == "tiny"


def test_a_later_override_wins_and_the_file_stays(run_file: Path) -> None:
    assert load(run_file, ["seed=1", "seed=2"]).seed == 2
    assert run_file.read_text() == GOOD


@pytest.mark.parametrize("example", sorted((ROOT / "examples").glob("*.yaml")), ids=lambda p: p.name)
def test_examples_load(example: Path) -> None:
    assert load(example).harness


def test_a_config_survives_json() -> None:
    config = RunConfig(harness="kiosk")
    assert RunConfig.model_validate_json(config.model_dump_json()) == config


@pytest.mark.parametrize(
    ("line", "wrong", "message"),
    [
        (
            6,
            "    nam: grpo",
            "run.yaml, line 6: no key 'trainer.algorithm.nam'. Did you mean \"name\"? Available: cap, clip,",
        ),
        (8, "  max_update: 3", "run.yaml, line 8: no key 'trainer.max_update'. Did you mean \"max_updates\"?"),
        (1, "harnes: kiosk", "run.yaml, line 1: no key 'harnes'. Did you mean \"harness\"?"),
        (8, "  max_updates: many", "run.yaml, line 8: trainer.max_updates: input should be a valid integer"),
        (8, "  max_updates: -1", "line 8: trainer.max_updates: input should be greater than or equal to 0, not -1"),
        (7, "    clip: [0.1]", "line 7: trainer.algorithm.clip: field required"),
        (7, "    clip: wide", "line 7: trainer.algorithm.clip: input should be a valid tuple, not 'wide'"),
        (
            6,
            "    name: ppo",
            "line 6: trainer.algorithm.name: input should be 'grpo', 'dr_grpo', 'dapo', 'gspo' or 'cispo', not 'ppo'",
        ),
        (3, "  tags: short", "line 3: data.tags: input should be a valid tuple, not 'short'"),
        (3, "  7: short", "line 2: data: keys should be strings, not 7"),
        (2, "data: 5", "line 2: data: "),
    ],
)
def test_a_wrong_line_is_named(run_file: Path, line: int, wrong: str, message: str) -> None:
    lines = GOOD.splitlines()
    lines[line - 1] = wrong
    run_file.write_text("\n".join(lines if wrong != "data: 5" else [*lines[:2], *lines[3:]]))
    with pytest.raises(ConfigError) as told:
        load(run_file)
    assert message in str(told.value)


def test_every_wrong_line_is_named(run_file: Path) -> None:
    run_file.write_text("harness: kiosk\nseed: -1\ntrainer:\n  epochs: 0\n")
    with pytest.raises(ConfigError, match=r"line 2: seed: [^\n]*\n[^\n]*line 4: trainer.epochs: "):
        load(run_file)


def test_a_missing_harness_is_told(run_file: Path) -> None:
    run_file.write_text("seed: 1\n")
    with pytest.raises(ConfigError, match=r"run\.yaml: harness: field required$"):
        load(run_file)


@pytest.mark.parametrize("text", ["", "- kiosk\n", "kiosk\n", "3\n"])
def test_a_file_that_is_no_mapping(run_file: Path, text: str) -> None:
    run_file.write_text(text)
    with pytest.raises(
        ConfigError, match=r"expected keys and values such as `harness: kiosk`, not (NoneType|list|str|int)"
    ):
        load(run_file)


def test_a_file_that_is_not_yaml(run_file: Path) -> None:
    run_file.write_text("harness: kiosk\ndata: [short\ntrainer: {}\n")
    with pytest.raises(ConfigError, match=r"run\.yaml, line 3: not YAML: "):
        load(run_file)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"cannot read the run file .*nothing.yaml: No such file"):
        load(tmp_path / "nothing.yaml")
    with pytest.raises(ConfigError, match=r"cannot read the run file .*: Is a directory"):
        load(tmp_path)
    deep = tmp_path / "deep.yaml"
    deep.write_text("a: " + "[" * 5000)
    with pytest.raises(ConfigError, match=r"deep.yaml: nested too deeply"):
        load(deep)
    binary = tmp_path / "binary.yaml"
    binary.write_bytes(b"\x89PNG\xff\xfe")
    with pytest.raises(ConfigError, match=r"cannot read the run file .*binary.yaml: "):
        load(binary)


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("trainer.epochs", "cannot read the override 'trainer.epochs': expected key=value, such as trainer.epochs=5"),
        ("=5", "cannot read the override '=5'"),
        ("harness.slots=5", "cannot set harness.slots: harness is 'kiosk', which has no keys"),
        ("seed=[1", "cannot read the value of the override 'seed=\\[1'"),
        ("trainer.epoch=5", "no key 'trainer.epoch'. Did you mean \"epochs\"\\?"),
        (
            "trainer.clip=5",
            "the override 'trainer.clip=5': no key 'trainer.clip'. Did you mean \"trainer.algorithm.clip\"",
        ),
        (
            "trainer.epochs=five",
            "the override 'trainer.epochs=five': trainer.epochs: input should be a valid integer.*, not 'five'",
        ),
        ("trainer..epochs=5", "no key 'trainer.'"),
        ("policy.temperature=.inf", "policy.temperature: input should be a finite number"),
        ("trainer.algorithm.clip=[-5, -1]", "trainer.algorithm.clip: input should be greater than 0"),
        ("seed=99999999999", "seed: input should be less than"),
    ],
)
def test_a_wrong_override_is_named(run_file: Path, override: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        load(run_file, [override])


GENERAL = """\
harness: kiosk
policy: {model: {path: models/small}, context: window(2)}
trainer:
  algorithm: {name: dapo, dual_clip: 4}
  lora: {rank: 8}
inference: {backend: transformers}
wandb: {mode: off}
"""


def test_a_run_file_of_the_general_path(run_file: Path) -> None:
    assert not load(run_file).is_general and load(run_file).max_tokens == 32
    run_file.write_text(GENERAL)
    config = load(run_file, ["trainer.max_staleness=0", "inference.backend=vllm", "inference.vllm.gpus='1'"])
    assert config.is_general and config.max_tokens == 256 and config.wandb.mode == "off"
    assert config.trainer.lora is not None and config.trainer.lora.rank == 8
    assert load(run_file, ["trainer.lora=null"]).trainer.lora is None


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["trainer.lora.rang=4"], "no key 'trainer.lora.rang'. Did you mean \"rank\"?"),
        (["inference.gpus=1"], "no key 'inference.gpus'. Did you mean \"inference.vllm.gpus\"?"),
        (["rank=1"], "no key 'rank'. Did you mean \"trainer.lora.rank\"?"),
        (["inference.backend=sglang"], "input should be 'shared', 'transformers' or 'vllm', not 'sglang'"),
        (["inference.backend=shared"], "policy.context is of the general path only: set inference.backend to"),
        (["trainer.matrix_lr=1e-4"], "trainer.matrix_lr is of the tiny model's path only"),
        (["inference.vllm.sleep=true"], "inference.vllm.sleep: a sampler that sleeps"),
        (["trainer.picture_gradient=true"], "trainer.lora learns beside the language part"),
        (["trainer.algorithm.min_members=9"], "min_members must not be more than trainer.algorithm.group_size"),
        (["policy.context=windw(2)"], 'no context \'windw(2)\': expected "full", "window(k)"'),
    ],
)
def test_what_does_not_go_together_is_told(run_file: Path, overrides: list[str], message: str) -> None:
    run_file.write_text(GENERAL)
    with pytest.raises(ConfigError) as told:
        load(run_file, overrides)
    assert message in str(told.value)


def test_every_key_has_its_meaning_in_the_guide() -> None:
    guide = (ROOT / "docs" / "training.md").read_text()
    obvious = {"trainer.lora", "logger"}
    assert [key for key in every_key() if f"`{key}`" not in guide and key not in obvious] == []
