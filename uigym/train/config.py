"""The run file: YAML with dotted overrides, checked before anything starts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, PositiveFloat, ValidationError

from uigym.errors import ConfigError, did_you_mean


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Data(_Section):
    """Which tasks are practised and tested."""

    train_data: tuple[Path, ...] = ()
    """Parquet files of `uigym export tasks`; empty draws from the harness itself."""
    val_data: tuple[Path, ...] = ()
    """Parquet files that the policy is tested on; empty draws held-out seeds."""
    tags: tuple[str, ...] = ()
    """Only tasks that have all these tags."""
    tasks: tuple[str, ...] = ()
    """Only these tasks; empty is all."""
    val_episodes: int = Field(120, ge=1)
    """Episodes of a test."""


class Model(_Section):
    """The checkpoint that training begins with."""

    path: str = "tiny"
    """Folder of a checkpoint, or "tiny"."""


class PolicyConfig(_Section):
    """Who plays, and how replies are sampled."""

    model: Model = Model()
    temperature: float = Field(1.0, gt=0)
    max_tokens: int = Field(32, ge=4)


class WarmStart(_Section):
    """Imitation of the oracle before reinforcement."""

    demonstrations: int = Field(0, ge=0)
    """Episodes of the oracle; 0 leaves the warm start out."""
    epochs: float = Field(3.0, gt=0)
    """How often each step of them is seen."""
    batch_rows: int = Field(32, ge=1)
    matrix_lr: float = Field(2e-3, gt=0)
    other_lr: float = Field(4e-4, gt=0)


class Algorithm(_Section):
    """Group-relative policy optimisation."""

    name: Literal["grpo"] = "grpo"
    group_size: int = Field(8, ge=2)
    """Episodes of one task and seed."""
    groups_per_step: int = Field(8, ge=1)
    """Groups of one update."""
    clip: tuple[PositiveFloat, PositiveFloat] = (0.2, 0.28)
    """How far the ratio may fall below and rise above 1."""
    minibatches: int = Field(3, ge=1)
    """Gradient steps of one pass over an update's rows, each on a part of them."""
    passes: int = Field(1, ge=1)
    """Passes over an update's rows: rollouts cost more than learning, and the clip bounds how much may be made of one."""
    normalise: bool = False
    """Divide advantages by the standard deviation of the group."""
    shuffle_rewards: bool = False
    """Give each group's rewards to its members at random: a control in which nothing can be learned."""


class Trainer(_Section):
    """How long and how fast to train."""

    algorithm: Algorithm = Algorithm()
    warm_start: WarmStart = WarmStart()
    epochs: int = Field(1, ge=1)
    """Passes over train_data."""
    max_updates: int = Field(40, ge=0)
    """Updates at most."""
    max_seconds: float | None = Field(None, gt=0)
    """Seconds of reinforcement at most; None is no limit."""
    matrix_lr: float = Field(5e-4, gt=0)
    other_lr: float = Field(1.5e-4, gt=0)
    final_rate: float = Field(1.0, gt=0, le=1)
    """Share of the learning rates that is left at the end; they fall evenly by updates or seconds, whichever end sooner."""
    picture_gradient: bool = False
    """Train through the picture tokens too: several times the cost."""
    save_every: int = Field(10, ge=1)
    """Updates between checkpoints."""
    threads: int = Field(2, ge=1, le=1024)
    """Of torch, on a CPU."""


class Inference(_Section):
    """How episodes are run."""

    backend: Literal["transformers"] = "transformers"
    slots: int = Field(8, ge=1)
    """Environments at once."""


class RunConfig(_Section):
    """A whole run."""

    harness: str
    """Id of a harness, or path of its file."""
    out: Path = Path("runs/train")
    """Folder of the results."""
    seed: int = Field(0, ge=0, lt=2**31)
    data: Data = Data()
    policy: PolicyConfig = PolicyConfig()
    trainer: Trainer = Trainer()
    inference: Inference = Inference()
    logger: tuple[Literal["jsonl", "wandb"], ...] = ("jsonl",)


def load(path: Path, overrides: Sequence[str] = ()) -> RunConfig:
    """Read a run file and change what the overrides say.

    Args:
        path: YAML.
        overrides: "dotted.key=value"; the value is YAML too.

    Raises:
        ConfigError: The file cannot be read, or a key or value is wrong: names the key, what was expected, the line.
    """
    try:
        text = path.read_text()
    except OSError as exc:
        raise ConfigError(f"cannot read the run file {path}: {exc.strerror}") from exc
    except UnicodeDecodeError as exc:
        raise ConfigError(f"cannot read the run file {path}: it is not text ({exc})") from exc
    try:
        values = yaml.safe_load(text)
    except RecursionError:
        raise ConfigError(f"{path}: nested too deeply to be a run file") from None
    except yaml.YAMLError as exc:
        mark = getattr(exc, "problem_mark", None)
        where = f", line {mark.line + 1}" if mark else ""
        raise ConfigError(f"{path}{where}: not YAML: {getattr(exc, 'problem', exc)}") from exc
    if not isinstance(values, dict):
        raise ConfigError(f"{path}: expected keys and values such as `harness: kiosk`, not {type(values).__name__}")
    for override in overrides:
        _override(values, override)
    try:
        return RunConfig.model_validate(values)
    except ValidationError as exc:
        raise ConfigError("\n".join(_explain(error, path, text, overrides) for error in exc.errors())) from exc


def _override(values: dict[str, Any], override: str) -> None:
    key, equals, value = override.partition("=")
    if not equals or not key:
        raise ConfigError(f"cannot read the override {override!r}: expected key=value, such as trainer.epochs=5")
    *parents, last = key.split(".")
    section = values
    for parent in parents:
        inner = section.setdefault(parent, {})
        if not isinstance(inner, dict):
            raise ConfigError(f"cannot set {key}: {parent} is {inner!r}, which has no keys")
        section = inner
    try:
        section[last] = yaml.safe_load(value)
    except yaml.YAMLError as exc:
        raise ConfigError(f"cannot read the value of the override {override!r}: {exc}") from exc


def _explain(error: Any, path: Path, text: str, overrides: Sequence[str]) -> str:
    keys = [str(part) for part in error["loc"] if isinstance(part, str)]
    dotted = ".".join(keys)
    given_by = [o for o in overrides if o.partition("=")[0] == dotted]
    line = _line(keys, text)
    where = f"the override {given_by[-1]!r}" if given_by else f"{path}, line {line}" if line else str(path)
    if error["type"] == "extra_forbidden":
        elsewhere = [key for key in _every() if key.rpartition(".")[2] == keys[-1]]
        hint = f'Did you mean "{elsewhere[0]}"?' if elsewhere else did_you_mean(keys[-1], _known(keys[:-1]))
        return f"{where}: no key {dotted!r}. {hint}"
    given = "" if error["type"] == "missing" else f", not {error['input']!r}"
    return f"{where}: {dotted}: {error['msg'].lower()}{given}"


def _every(model: Any = RunConfig, prefix: str = "") -> list[str]:
    """All dotted keys."""
    found: list[str] = []
    for name, field in model.model_fields.items():
        inner = getattr(field.annotation, "model_fields", None)
        found += _every(field.annotation, f"{prefix}{name}.") if inner else [prefix + name]
    return found


def _known(keys: Sequence[str]) -> list[str]:
    model: Any = RunConfig
    for key in keys:
        model = model.model_fields[key].annotation
    return list(model.model_fields)


def _line(keys: Sequence[str], text: str) -> int | None:
    """The line on which a key stands, counted from 1; None if it comes from elsewhere."""
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError:
        return None
    line = None
    for key in keys:
        pairs = node.value if isinstance(node, yaml.MappingNode) else []
        found = next(((k, v) for k, v in pairs if k.value == key), None)
        if found is None:
            return line if line and key != keys[-1] else None
        line, node = found[0].start_mark.line + 1, found[1]
    return line
