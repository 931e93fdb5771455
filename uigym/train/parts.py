"""The parts of the general path, made as a run file says."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch

from uigym.harness import Harness
from uigym.models import families
from uigym.models.families import Family
from uigym.policy import contexts
from uigym.policy.chat import ChatPolicy
from uigym.policy.local import LocalSampler
from uigym.policy.sampler import Sampler, Sampling
from uigym.policy.vllm import Transfer
from uigym.policy.vllm_server import Serving
from uigym.train import sync
from uigym.train.config import RunConfig
from uigym.train.engine import Apart, Engine, EngineSettings, Lora
from uigym.train.learning import Scores, loss_settings
from uigym.train.stream import Flow
from uigym.train.windows import Window


def family(config: RunConfig) -> Family:
    """The family of the checkpoint that training begins with.

    Raises:
        ConfigError: There is no such folder, or no family knows its architecture.
    """
    return families.open(config.policy.model.path, codec=config.policy.codec)


def engine(config: RunConfig, family: Family) -> Engine | Apart:
    """Who learns.

    Raises:
        ConfigError: The settings do not fit the model or the machine.
        MissingExtra: They need a package that is not installed.
    """
    trainer = config.trainer
    lora = trainer.lora
    adapters = None
    if lora is not None:
        given = {"targets": lora.targets} if lora.targets else {}
        adapters = Lora(lora.rank, lora.alpha, **given)
    settings = EngineSettings(
        rate=trainer.lr,
        weight_decay=trainer.weight_decay,
        clip=trainer.grad_clip,
        precision=trainer.precision,
        vision=trainer.picture_gradient,
        lora=adapters,
        recompute=trainer.recompute,
        budget=trainer.micro_tokens,
        temperature=config.policy.temperature,
        liger=trainer.liger,
        compile=trainer.compile,
        windows=trainer.windows,
    )
    return _made(config, family, folder(config), settings)


def _made(config: RunConfig, family: Family, folder: Path, settings: EngineSettings) -> Engine | Apart:
    """An engine, in a process of its own if the run file says so or this run has a GPU to keep busy."""
    trainer = config.trainer
    is_gpu = trainer.device != "cpu" and torch.cuda.is_available()
    leads = int(os.environ.get("RANK", "0")) == 0
    kind = Apart if leads and (is_gpu if trainer.apart is None else trainer.apart) else Engine
    return kind(family, folder, settings, loss=loss_settings(trainer.algorithm), device=trainer.device)


def folder(config: RunConfig) -> Path:
    """Of the checkpoint that training begins with."""
    from uigym.models.tiny import tiny_checkpoint

    path = config.policy.model.path
    return tiny_checkpoint() if path == "tiny" else Path(path)


REFERENCE = "reference"
"""Folder of the policy that reinforcement began with, in that of the run."""


def reference(config: RunConfig, out: Path) -> Scores | None:
    """Who knows the policy that reinforcement began with; None where the loss has no distance from it."""
    if not config.trainer.algorithm.kl:
        return None
    return Reference(config, out / REFERENCE)


class Reference:
    """The policy that reinforcement began with, loaded when it is first asked.

    Args:
        config: Of the run.
        folder: Its checkpoint.
    """

    def __init__(self, config: RunConfig, folder: Path):
        self.config, self.folder = config, folder
        self._engine: Engine | Apart | None = None

    def score(self, windows: Sequence[Window], pngs: Mapping[str, bytes]) -> list[list[float]]:
        """Log-probabilities of each window's reply tokens.

        Raises:
            ConfigError: The checkpoint is not there.
        """
        if self._engine is None:
            trainer = self.config.trainer
            settings = EngineSettings(precision=trainer.precision, temperature=self.config.policy.temperature)
            self._engine = _made(self.config, families.open(self.folder), self.folder, settings)
        return self._engine.score(windows, pngs)


def flow(config: RunConfig) -> Flow:
    """How groups come out of the stream."""
    algorithm = config.trainer.algorithm
    return Flow(
        group_size=algorithm.group_size,
        groups=algorithm.groups_per_step,
        max_staleness=config.trainer.max_staleness,
        min_members=algorithm.min_members,
        refills=algorithm.refills,
        replacements=algorithm.replacements,
    )


def policy(config: RunConfig, engine: Engine | Apart, harness: Harness) -> ChatPolicy:
    """Who plays.

    Raises:
        ConfigError: The family cannot show the harness's viewport as it is, or the context is none.
    """
    families.exact(engine.family, *harness.viewport)
    sampling = Sampling(temperature=config.policy.temperature, max_tokens=config.max_tokens)
    return ChatPolicy(
        engine.family,
        sampler(config, engine),
        contexts.parse(config.policy.context),
        sampling,
        training=True,
        limit=config.policy.limit,
    )


def sampler(config: RunConfig, engine: Engine | Apart) -> Sampler:
    """Who samples: a second copy of the model in this process, or a server."""
    if config.inference.backend == "transformers":
        device = str(engine.ranks.device)
        dtype = torch.float32 if device == "cpu" else torch.bfloat16
        return LocalSampler(engine.family, engine.family.load(folder(config), dtype, device), seed=config.seed)
    return _served(config, engine)


def _served(config: RunConfig, engine: Engine | Apart) -> Sampler:
    from uigym.policy.vllm import VLLMSampler
    from uigym.policy.vllm_server import VLLMServer
    from uigym.train.drowsy import Drowsy

    chosen = config.inference.vllm
    made = VLLMSampler(
        engine.family,
        chosen.url or VLLMServer(folder(config), serving(config)),
        transfer=_way(chosen.transfer, engine) if chosen.transfer else None,
        trains_vision=config.trainer.picture_gradient,
    )
    return Drowsy(made) if chosen.sleep else made


def _way(name: str, engine: Engine | Apart) -> Transfer:
    """How weights travel: a GPU's are sent by the process that has them."""
    return sync.There(name, engine) if isinstance(engine, Apart) else sync.WAYS[name]()


def serving(config: RunConfig) -> Serving:
    """How a server of ours is started."""
    chosen = config.inference.vllm
    return Serving(
        python=chosen.python or sys.executable,
        dtype=chosen.dtype,
        max_tokens=config.policy.limit,
        pictures=contexts.parse(config.policy.context).most or 32,
        memory=chosen.memory,
        replies=chosen.replies,
        gpus=chosen.gpus,
        transfer=chosen.transfer,
        sleep=chosen.sleep,
        more=chosen.more,
        environment={"VLLM_ALLOW_INSECURE_SERIALIZATION": "1"} if chosen.transfer == "ipc" else {},
        start_s=chosen.start_s,
    )
