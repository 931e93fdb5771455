"""The run file: YAML with dotted overrides, checked before anything starts."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, get_args

import yaml
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PositiveFloat,
    ValidationError,
    field_validator,
    model_validator,
)

from uigym.errors import ConfigError, did_you_mean
from uigym.policy import contexts


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
    codec: str | None = None
    """Action language of the model, by the name of a codec; None takes its family's own."""
    context: str = "hysteresis(1, 6)"
    """Screenshots in a context: "full", "window(k)", "hysteresis(k_min, k_max)"; each may end in "without digest"."""
    temperature: float = Field(1.0, gt=0)
    max_tokens: int | None = Field(None, ge=4)
    """Longest reply; None is 32 for the tiny model's action language, 256 for others."""
    limit: int = Field(16384, ge=256)
    """Longest context with its reply, tokens; where an episode grows beyond, a new context begins."""

    @field_validator("context")
    @classmethod
    def _can_be_read(cls, value: str) -> str:
        contexts.parse(value)
        return value


class WarmStart(_Section):
    """Imitation of the oracle before reinforcement."""

    demonstrations: int = Field(0, ge=0)
    """Episodes of the oracle; 0 leaves the warm start out."""
    epochs: float = Field(3.0, gt=0)
    """How often each step of them is seen."""
    batch_rows: int = Field(32, ge=1)
    matrix_lr: float = Field(2e-3, gt=0)
    other_lr: float = Field(4e-4, gt=0)
    lr: float = Field(1e-5, gt=0)
    """Learning rate of the warm start on the general path."""


class Algorithm(_Section):
    """Group-relative policy optimisation. What is None is what the loss's authors set."""

    name: Literal["grpo", "dr_grpo", "dapo", "gspo", "cispo"] = "grpo"
    """The loss; all but grpo need the general path."""
    group_size: int = Field(8, ge=2)
    """Episodes of one task and seed."""
    groups_per_step: int = Field(8, ge=1)
    """Groups of one update."""
    clip: tuple[PositiveFloat, PositiveFloat] | None = None
    """How far the ratio may fall below and rise above 1."""
    minibatches: int | None = Field(None, ge=1)
    """Gradient steps of one pass over an update's rows; None is 3 for the tiny model, 1 for others."""

    @field_validator("clip")
    @classmethod
    def _is_a_range(cls, value: tuple[float, float] | None) -> tuple[float, float] | None:
        if value and value[0] > 1:
            raise ValueError(
                f"a ratio can fall below 1 by at most 1: expected [low, high] with low in (0, 1], not {list(value)}"
            )
        return value

    passes: int = Field(1, ge=1)
    """Passes over an update's rows: rollouts cost more than learning, and the clip bounds how much may be made of one."""
    normalise: bool = False
    """Divide advantages by the standard deviation of the group."""
    shuffle_rewards: bool = False
    """Give each group's rewards to its members at random: a control in which nothing can be learned."""
    dual_clip: float | None = Field(None, gt=1)
    """Bound on the ratio where the advantage is negative; None is the loss's own."""
    kl: float = Field(0.0, ge=0)
    """Weight of the distance from the policy that reinforcement began with; costs a second model."""
    importance: Literal["none", "token", "sequence", "geometric"] | None = None
    """How the difference between sampler and trainer is corrected."""
    cap: float = Field(2.0, ge=1)
    """Most that a token counts by that correction."""
    drop: float = Field(5.0, gt=1, le=1e9)
    """A ratio of trainer to sampler beyond this, or below its inverse, drops the token."""
    normaliser: Literal["constant", "tokens", "rows"] | None = None
    """What the loss is divided by."""
    typical_tokens: float = Field(500.0, gt=0)
    """Reply tokens of a typical episode, for normaliser: constant."""
    leave_one_out: bool = False
    """Compare an episode with the others of its group, without itself."""
    step_weight: float = Field(0.0, ge=0)
    """Weight of advantages over steps that began in the same state (GiGPO); 0 leaves them out."""
    discount: float = Field(0.95, gt=0, le=1)
    """Of the reward for each step before it, for step_weight."""
    refills: int = Field(3, ge=0)
    """Groups that teach nothing make room for others, at most so many times the groups of an update."""
    min_members: int = Field(2, ge=2)
    """A group with fewer verdicts is dropped."""
    replacements: int = Field(4, ge=0)
    """Lost members of a group that are played again."""


class Lora(_Section):
    """Adapters to train instead of the weights."""

    rank: int = Field(32, ge=1)
    alpha: float = Field(64.0, gt=0)
    """Adapters are scaled by alpha / rank."""
    targets: tuple[str, ...] | None = None
    """Last parts of the names of the linear layers; None is all of the language part."""


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
    max_staleness: int = Field(1, ge=0)
    """How many updates the weights that an episode was played with may be behind; 0 plays and learns in turn."""
    matrix_lr: float = Field(5e-4, gt=0)
    other_lr: float = Field(1.5e-4, gt=0)
    lr: float = Field(1e-6, gt=0)
    """Learning rate of reinforcement on the general path."""
    warmup: int = Field(0, ge=0)
    """Updates over which lr rises from 0."""
    decay: Literal["none", "linear", "cosine"] = "none"
    """How lr falls after those, by updates or seconds, whichever end sooner."""
    floor: float = Field(0.1, ge=0, le=1)
    """Share of lr that is left at the end, where it falls."""
    weight_decay: float = Field(0.0, ge=0)
    grad_clip: float = Field(1.0, gt=0)
    """Most that the norm of an update's gradient may be."""
    final_rate: float = Field(1.0, gt=0, le=1)
    """Share of the learning rates that is left at the end; they fall evenly by updates or seconds, whichever end sooner."""
    picture_gradient: bool = False
    """Train through the picture tokens and the vision tower too: several times the cost."""
    strategy: Literal["single", "fsdp2"] = "single"
    """One process, or one a GPU under torchrun, the weights split over them."""
    device: Literal["cpu", "cuda"] | None = None
    """cpu or cuda; None takes a GPU where there is one."""
    precision: Literal["bf16", "fp32"] = "bf16"
    """Of the arithmetic on a GPU; weights and optimizer are float32 in either case."""
    lora: Lora | None = None
    """Train adapters; None trains the weights."""
    recompute: float = Field(1.0, ge=0, le=1)
    """Share of the layers whose activations are computed again in the backward pass."""
    micro_tokens: int = Field(16384, ge=1)
    """Tokens of one forward pass, padding counted."""
    liger: bool = False
    """Use liger-kernel."""
    compile: bool = False
    """Compile the layers."""
    windows: bool = False
    """Let a Qwen vision tower attend within all its windows at once; GPU and bf16 only."""
    apart: bool | None = None
    """Learn in a process of its own, which does not wait for the one that plays; None does so on a GPU."""
    save_every: int = Field(10, ge=1)
    """Updates between checkpoints."""
    test_every: int | None = Field(None, ge=1)
    """Updates between tests on held-out seeds on the general path; None tests at the beginning and the end."""
    threads: int = Field(2, ge=1, le=1024)
    """Of torch, on a CPU."""


class VLLM(_Section):
    """The server that samples."""

    url: str | None = None
    """Of one that runs already; None starts one."""
    python: str | None = None
    """Interpreter of the environment that vLLM is in; None is ours."""
    gpus: str | None = None
    """Of the server, as CUDA_VISIBLE_DEVICES says it; None is what this process sees."""
    memory: float = Field(0.85, gt=0, le=1)
    """Share of the GPU's memory."""
    replies: int = Field(64, ge=1)
    """Replies at once."""
    transfer: Literal["nccl", "ipc"] | None = None
    """How new weights reach it: nccl from another GPU, ipc on the same one, None through the disk."""
    sleep: bool = False
    """Whether it gives up its GPU's memory while the trainer learns."""
    dtype: Literal["bfloat16", "float16", "float32"] = "bfloat16"
    more: tuple[str, ...] = ()
    """Further arguments of `vllm serve`."""
    start_s: float = Field(900.0, gt=0)
    """How long it may take to come up, seconds."""


class Inference(_Section):
    """How episodes are run and replies are sampled."""

    backend: Literal["shared", "transformers", "vllm"] = "shared"
    """shared: the tiny model's path, one picture a row; transformers: any family in this process; vllm: a server."""
    slots: int = Field(8, ge=1)
    """Environments at once."""
    browsers: int | None = Field(None, ge=1)
    """Chromium processes that the slots share; None is one for every four slots."""
    vllm: VLLM = VLLM()


class Wandb(_Section):
    """Weights & Biases, where logger names it."""

    project: str = "uigym"
    name: str | None = None
    """Of the run; None lets wandb invent one."""
    mode: Literal["auto", "online", "offline", "off"] = "auto"
    """auto is online where an account is set, else offline."""

    @field_validator("mode", mode="before")
    @classmethod
    def _not_a_truth_value(cls, value: Any) -> Any:
        return "off" if value is False else value  # YAML reads `off` as false


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
    """Beside the page of the run, which is always written."""
    wandb: Wandb = Wandb()

    @property
    def is_general(self) -> bool:
        """Whether it trains on windows of any family, not on the tiny model's shared pictures."""
        return self.inference.backend != "shared"

    @property
    def max_tokens(self) -> int:
        """Longest reply."""
        return self.policy.max_tokens or (256 if self.is_general else 32)

    @model_validator(mode="after")
    def _fits(self) -> RunConfig:
        if self.is_general and (given := self._given(_SHARED)):
            raise ValueError(
                f"{given} is of the tiny model's path only: leave it out, or set inference.backend to shared"
            )
        if not self.is_general and (given := self._given(_GENERAL)):
            raise ValueError(f"{given} is of the general path only: set inference.backend to transformers or vllm")
        if self.inference.vllm.sleep and self.trainer.max_staleness:
            raise ValueError(
                "inference.vllm.sleep: a sampler that sleeps while the trainer learns needs trainer.max_staleness: 0"
            )
        if self.trainer.lora and self.trainer.picture_gradient:
            raise ValueError("trainer.lora learns beside the language part: it cannot go with trainer.picture_gradient")
        if self.trainer.algorithm.kl and self.trainer.strategy == "fsdp2":
            raise ValueError(
                "trainer.algorithm.kl needs a second model, which trainer.strategy: fsdp2 has no place for yet"
            )
        if self.trainer.algorithm.min_members > self.trainer.algorithm.group_size:
            raise ValueError("trainer.algorithm.min_members must not be more than trainer.algorithm.group_size")
        return self

    def _given(self, keys: Mapping[str, Sequence[str]]) -> str:
        """The first of the keys that has another value than its default; empty if there is none."""
        for section, names in keys.items():
            part: Any = functools.reduce(getattr, section.split("."), self)
            for name in names:
                if getattr(part, name) != type(part).model_fields[name].get_default():
                    return f"{section}.{name}"
        return ""


_SHARED = {"trainer": ("matrix_lr", "other_lr", "final_rate"), "trainer.warm_start": ("matrix_lr", "other_lr")}
"""Keys that the general path has no use for."""
_GENERAL = {
    "policy": ("codec", "context", "limit"),
    "trainer.warm_start": ("lr",),
    "trainer": ("lr", "warmup", "decay", "floor", "weight_decay", "grad_clip", "strategy", "device", "precision", "lora", "recompute", "micro_tokens", "liger", "compile", "max_staleness", "test_every"),
    "trainer.algorithm": ("name", "dual_clip", "kl", "importance", "cap", "drop", "normaliser", "typical_tokens", "leave_one_out", "step_weight", "discount", "refills", "min_members", "replacements"),
    "inference": ("vllm",),
}  # fmt: skip
"""Keys that the shared-picture path has no use for: given there, they would be ignored without a word."""


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
        elsewhere = [key for key in every_key() if key.rpartition(".")[2] == keys[-1]]
        hint = f'Did you mean "{elsewhere[0]}"?' if elsewhere else did_you_mean(keys[-1], _known(keys[:-1]))
        return f"{where}: no key {dotted!r}. {hint}"
    if error["type"] == "value_error":
        return f"{where}: {f'{dotted}: ' if keys else ''}{error['ctx']['error']}"
    given = "" if error["type"] == "missing" else f", not {error['input']!r}"
    return f"{where}: {dotted}: {error['msg'].lower()}{given}"


def every_key(model: Any = RunConfig, prefix: str = "") -> list[str]:
    """All dotted keys of a run file."""
    found: list[str] = []
    for name, field in model.model_fields.items():
        section = _section(field.annotation)
        found += every_key(section, f"{prefix}{name}.") if section else [prefix + name]
    return found


def _section(annotation: Any) -> Any:
    """The section that a field holds, also one that may be None; None for a plain value."""
    kinds = (annotation, *get_args(annotation))
    return next((kind for kind in kinds if hasattr(kind, "model_fields")), None)


def _known(keys: Sequence[str]) -> list[str]:
    model: Any = RunConfig
    for key in keys:
        model = _section(model.model_fields[key].annotation)
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
