"""What can be known of a run before it starts: every setting against the model, the harness, the files and the machine.

Weights of a large model take minutes to read, and a warm start an hour: what is wrong is told before.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import torch

from uigym import registry
from uigym.errors import ConfigError, MissingExtra, UIGymError, did_you_mean
from uigym.harness import Harness
from uigym.models import families
from uigym.models.families import Family
from uigym.models.families.base import read_json
from uigym.models.families.safe import check_weights
from uigym.policy import contexts
from uigym.policy.codecs.language import LANGUAGES
from uigym.train.config import RunConfig
from uigym.train.data import choose_tasks, from_parquet
from uigym.train.learning import loss_settings
from uigym.train.logs import import_wandb
from uigym.train.parts import folder

T = TypeVar("T")
TINY = "tiny"
"""Family and codec of the model that comes with uigym."""


def check(config: RunConfig, say: Callable[[str], None] = print) -> None:
    """Look at everything that a run file names, without reading weights or playing anything.

    Args:
        config: The run.
        say: Is told what can be used, but may not have been meant.

    Raises:
        ConfigError: Something cannot be used; the text has a line for each such thing, beginning with its key.
    """
    found = _Findings()
    harness = found.of("harness", lambda: registry.load(config.harness))
    family = found.of("policy.model.path", lambda: _family(config))
    if harness is not None:
        _data(config, harness, found)
    if config.is_general:
        found.of("policy.codec", lambda: _codec(config, family))
        found.of("trainer.algorithm", lambda: loss_settings(config.trainer.algorithm))
        found.of("trainer", lambda: _machine(config))
        found.of("inference.vllm.python", lambda: _interpreter(config))
        if harness is not None and family is not None:
            found.of("harness", lambda: families.exact(family, *harness.viewport))
            found.of("policy", lambda: _room(config, family, harness))
    found.of("logger", lambda: _loggers(config))
    found.end()
    clip = config.trainer.algorithm.clip
    if clip and clip[0] > clip[1]:
        say(
            f"trainer.algorithm.clip {list(clip)} lets a ratio fall further than it may rise: are the two in their order?"
        )


@dataclass
class _Findings:
    lines: list[str] = field(default_factory=list)

    def of(self, key: str, look: Callable[[], T]) -> T | None:
        """What a look gives; None where it finds something wrong, which is noted under a key."""
        try:
            return look()
        except UIGymError as exc:
            text = str(exc)
            line = text if text.startswith(key) else f"{key}: {text}"
            self.lines += [line] if line not in self.lines else []
            return None

    def end(self) -> None:
        """Tell what was noted."""
        if self.lines:
            raise ConfigError("\n".join(self.lines))


# --- the model -----------------------------------------------------------------------------------------------


def _family(config: RunConfig) -> Family:
    path, codec = config.policy.model.path, config.policy.codec
    family = families.open(path, codec=codec if codec in LANGUAGES else None)  # a wrong one has a line of its own
    check_weights(folder(config))
    if not config.is_general and family.name != TINY:
        raise ConfigError(
            f"inference.backend: shared trains models that speak the tiny model's language, and {path} is a "
            f"{family.name}; set inference.backend to transformers or vllm"
        )
    return family


def _codec(config: RunConfig, family: Family | None) -> None:
    codec = config.policy.codec
    if codec is None:
        return
    if codec not in LANGUAGES:
        raise ConfigError(f"no model can be taught {codec!r}. {did_you_mean(codec, LANGUAGES)}")
    if codec == TINY and family is not None and family.name != TINY:
        raise ConfigError(
            f"the tiny model's words, such as <click>, are not in the vocabulary of {config.policy.model.path}; "
            "leave it out, so that the family's own is taken"
        )


def _room(config: RunConfig, family: Family, harness: Harness) -> None:
    """Whether the screenshots that a context may hold fit its limit, and the limit the model."""
    chosen, limit = config.policy, config.policy.limit
    picture = family.picture("", *harness.viewport)
    shown = contexts.parse(chosen.context).most or 1
    least = len(family.fresh("", [], "", [picture] * shown)) + config.max_tokens
    if least > limit:
        raise ConfigError(
            f"policy.context: {chosen.context} with {shown} screenshots of {picture.tokens} tokens and a reply of "
            f"{config.max_tokens} takes at least {least} tokens, and policy.limit is {limit}: raise the limit, or show fewer"
        )
    bears = _positions(folder(config))
    if bears is not None and limit > bears:
        raise ConfigError(
            f"policy.limit: {limit} tokens are more than the {bears} that the model was made for; take at most those"
        )


def _positions(folder: Path) -> int | None:
    """Longest context that a model was made for; None where its configuration does not say, or stretches it."""
    whole = read_json(folder / "config.json")
    text = whole.get("text_config") or whole
    found = text.get("max_position_embeddings")
    return found if isinstance(found, int) and "yarn" not in str(text) else None


# --- files and tasks -----------------------------------------------------------------------------------------


def _data(config: RunConfig, harness: Harness, found: _Findings) -> None:
    data = config.data
    found.of("data", lambda: choose_tasks(harness, data.tags, data.tasks))
    found.of("data.train_data", lambda: from_parquet(data.train_data, harness))
    found.of("data.val_data", lambda: from_parquet(data.val_data, harness))


# --- the machine ---------------------------------------------------------------------------------------------


def _machine(config: RunConfig) -> None:
    trainer = config.trainer
    processes = int(os.environ.get("WORLD_SIZE", "1"))
    if (processes > 1) != (trainer.strategy == "fsdp2"):
        raise ConfigError(
            f"trainer.strategy: {trainer.strategy} with {processes} processes: "
            "start fsdp2 with `torchrun --nproc-per-node GPUS -m uigym train ...`, single without"
        )
    has_gpu = torch.cuda.is_available() and trainer.device != "cpu"
    for name in ("liger", "compile", "windows"):
        if getattr(trainer, name) and not has_gpu:
            raise ConfigError(f"trainer.{name} needs a GPU, and this runs on a CPU; set it to false")
    if trainer.device == "cuda" and not torch.cuda.is_available():
        raise ConfigError("trainer.device: cuda, but torch finds no GPU here; leave it out, or install torch with CUDA")
    if trainer.lora and importlib.util.find_spec("peft") is None:
        raise MissingExtra("trainer.lora: peft, which it needs,", "lora")


def _interpreter(config: RunConfig) -> None:
    chosen = config.inference.vllm
    if config.inference.backend != "vllm" or chosen.url or chosen.python is None:
        return
    if shutil.which(chosen.python) is None:
        raise ConfigError(f"{chosen.python!r} is no program; expected the Python of the environment that vLLM is in")


def _loggers(config: RunConfig) -> None:
    if "wandb" in config.logger and config.wandb.mode != "off":
        import_wandb()
