"""The engine: a model that learns from windows.

Shape letters: T reply tokens of a micro-batch, one window after the other.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.distributed.fsdp import FSDPModule

from uigym.errors import ConfigError, StoreError, attribute
from uigym.models.families.family import Family
from uigym.models.families.forward import log_probabilities
from uigym.train.drafts import drafted
from uigym.train.engine.export import Export
from uigym.train.engine.plan import plan
from uigym.train.engine.prepare import prepare
from uigym.train.engine.ranks import Ranks
from uigym.train.engine.settings import EngineSettings
from uigym.train.engine.state import read_progress, read_state, write_progress, write_state
from uigym.train.engine.tensors import whole
from uigym.train.engine.work import Advantage, Work
from uigym.train.losses import LossSettings, joined, policy_loss
from uigym.train.windows import Window


class Engine:
    """Trains a checkpoint's model and gives its weights out.

    One process, or one a GPU under `torchrun`: then every rank makes the same engine, rank 0 calls the methods below, and the
    others call `follow`, which takes part in all of them until rank 0 closes.

    Args:
        family: Of the checkpoint.
        folder: The checkpoint.
        settings: How it computes and learns.
        loss: Of `train`.
        device: "cpu", "cuda"; None takes this rank's GPU, where there is one.

    Raises:
        ConfigError: The settings do not fit the model or the machine.
        MissingExtra: They need a package that is not installed.
    """

    def __init__(
        self,
        family: Family,
        folder: Path,
        settings: EngineSettings | None = None,
        *,
        loss: LossSettings | None = None,
        device: str | None = None,
    ):
        self.family, self.settings, self.loss = family, settings or EngineSettings(), loss or LossSettings()
        if self.settings.packed and not family.packs:
            raise ConfigError(f"rows of {family.name} cannot share one sequence; set packed to false")
        self.ranks = Ranks(device, group=self.settings.precision == "bf16")
        self.model = family.load(folder, torch.float32, str(self.ranks.device))
        prepare(self.model, family, self.settings, self.ranks)
        self.export = Export(self.model, folder, self.settings.dtype)
        self.optimizer = _optimizer(self.model, self.settings, self.ranks)
        self.updates = 0

    # --- learning ---

    def train(
        self,
        windows: Sequence[Window],
        advantages: Sequence[Advantage],
        pngs: Mapping[str, bytes],
        *,
        denominator: float,
        old: Sequence[Sequence[float]] | None = None,
        reference: Sequence[Sequence[float]] | None = None,
        rate: float | None = None,
    ) -> dict[str, float]:
        """One update by the policy loss.

        Args:
            windows: As they were sampled.
            advantages: One a window, or one for each of its replies.
            pngs: The windows' pictures by hash.
            denominator: What the loss is divided by: see `losses.divisor`.
            old: Log-probabilities under the weights that the first update on these windows began with, from `score`;
                None where this is the first.
            reference: The same under a reference policy, where the loss has a KL term.
            rate: Learning rate of this update; None is that of the settings.

        Returns:
            What `policy_loss` says, put together; entropy, nats a reply token; grad_norm, before it is cut; rate; tokens, rows and
            replies (tokens) that were learnt from; skipped, 1 where the gradient was not finite, so that nothing was changed.
        """
        return self._lead("train", Work(windows, advantages, old, reference, denominator, rate), pngs)

    def imitate(
        self, windows: Sequence[Window], pngs: Mapping[str, bytes], *, rate: float | None = None
    ) -> dict[str, float]:
        """One supervised update on the windows' replies; loss is the mean negative log-likelihood of a token, nats.

        Args:
            windows: Their replies are what is to be said.
            pngs: The windows' pictures by hash.
            rate: Learning rate of this update; None is that of the settings.
        """
        return self._lead("imitate", Work(windows, rate=rate), pngs)

    def score(self, windows: Sequence[Window], pngs: Mapping[str, bytes]) -> list[list[float]]:
        """Log-probabilities of each window's reply tokens under the present weights, at the sampling temperature."""
        return self._lead("score", Work(windows), pngs)

    # --- weights ---

    def named(self) -> Iterable[tuple[str, Tensor]]:
        """(name as in the checkpoint, whole tensor), one after the other, to the end; adapters are merged in."""
        self.ranks.tell({"do": "named"})
        return self.export.named()

    def save(self, folder: Path) -> None:
        """Write a checkpoint folder that transformers and vLLM load.

        Raises:
            StoreError: It cannot be written.
        """
        self.ranks.tell({"do": "save", "folder": str(folder)})
        self._save({"folder": str(folder)})

    def checkpoint(self, folder: Path, progress: dict[str, Any] | None = None) -> None:
        """Write what `resume` goes on from exactly, complete or not at all; the folder can be loaded like one of `save`.

        Args:
            folder: Where it shall be.
            progress: JSON values of the caller's own.

        Raises:
            StoreError: It cannot be written; a former one of that name is still there.
        """
        message = {"folder": str(folder), "progress": progress or {}}
        self.ranks.tell({"do": "checkpoint", **message})
        self._checkpoint(message)

    def resume(self, folder: Path) -> dict[str, Any]:
        """Go on from a checkpoint; returns the caller's progress.

        Raises:
            ConfigError: The folder is no checkpoint of such an engine.
        """
        self.ranks.tell({"do": "resume", "folder": str(folder)})
        return self._resume({"folder": str(folder)})

    # --- ranks ---

    def follow(self) -> None:
        """Take part in what rank 0 does, until it closes. For the other ranks."""
        while (message := self.ranks.tell())[0].get("do") != "close":
            asked, blobs = message
            if "work" in asked:
                work = Work.from_json(asked["work"])
                self._do(asked["do"], work, dict(zip(asked["pngs"], blobs, strict=True)))
            elif asked["do"] == "named":
                for _ in self.export.named():
                    pass
            else:
                getattr(self, f"_{asked['do']}")(asked)
        self.ranks.close()

    def close(self) -> None:
        """End, on all ranks."""
        if self.ranks.leads:
            self.ranks.tell({"do": "close"})
        self.ranks.close()

    def _lead(self, name: str, work: Work, pngs: Mapping[str, bytes]) -> Any:
        if self.ranks.count > 1:
            hashes = sorted({picture.hash for window in work.windows for picture in window.pictures})
            self.ranks.tell({"do": name, "work": work.to_json(), "pngs": hashes}, [pngs[hash] for hash in hashes])
        return self._do(name, work, pngs)

    def _do(self, name: str, work: Work, pngs: Mapping[str, bytes]) -> Any:
        if name == "score":
            return self._score(work, pngs)
        return self._update(self._policy if name == "train" else self._likelihood, work, pngs)

    # --- what every rank does ---

    def _update(self, loss_of: Any, work: Work, pngs: Mapping[str, bytes]) -> dict[str, float]:
        total = sum(len(window.logprobs) for window in work.windows)
        parts, counts = [], []
        for batch, counts_for in self._mine(work):
            loss, numbers = loss_of(work, batch, pngs, total)
            # The mean of the ranks' gradients is what sharding makes of them; the loss is a sum over all ranks.
            (loss * (self.ranks.count * counts_for)).backward()
            if counts_for:
                parts.append(numbers)
                counts.append(sum(len(work.windows[i].logprobs) for i in batch))
            names = sorted(numbers)
        numbers = self._gathered(names, parts, counts)
        tokens = sum(len(window.ids) for window in work.windows)
        return {**numbers, **self._step(work.rate), "tokens": tokens, "rows": len(work.windows), "replies": total}

    def _mine(self, work: Work) -> list[tuple[list[int], int]]:
        """This rank's micro-batches, with 1, or with 0 for one that is only there to take part."""
        lengths = [len(window.ids) for window in work.windows]
        shortest = min(range(len(lengths)), key=lengths.__getitem__)
        rounds = plan(lengths, self.ranks.count, self.settings.budget, packed=self.settings.packed)
        mine = [batches[self.ranks.number] for batches in rounds]
        return [(batch or [shortest], int(bool(batch))) for batch in mine]

    def _policy(self, work: Work, batch: list[int], pngs: Mapping[str, bytes], total: int) -> tuple[Tensor, Any]:
        new_T, entropy_T = self._log_probabilities(work, batch, pngs, self.settings.temperature)
        out = policy_loss(self.loss, new_T, work.tokens(batch, new_T.device), denominator=work.denominator)
        return out.loss, {**out.numbers, "entropy": entropy_T.detach().mean()}

    def _likelihood(self, work: Work, batch: list[int], pngs: Mapping[str, bytes], total: int) -> tuple[Tensor, Any]:
        new_T, entropy_T = self._log_probabilities(work, batch, pngs, 1.0)
        loss = -new_T.sum() / total
        return loss, {"loss": loss.detach(), "entropy": entropy_T.detach().mean()}

    @torch.no_grad()
    def _score(self, work: Work, pngs: Mapping[str, bytes]) -> list[list[float]]:
        lengths = [len(window.logprobs) for window in work.windows]
        starts = [sum(lengths[:i]) for i in range(len(lengths))]
        out = torch.zeros(sum(lengths))
        for batch, counts_for in self._mine(work):
            logprobs, _ = self._log_probabilities(work, batch, pngs, self.settings.temperature)
            for i, part in zip(batch, logprobs.float().cpu().split([lengths[i] for i in batch]), strict=True):
                out[starts[i] : starts[i] + lengths[i]] = part * counts_for
        if isinstance(self.model, FSDPModule):
            self.model.reshard()  # no backward pass does: what was put together would outlive a change of the weights
        every = self.ranks.gather(out).sum(0)
        return [part.tolist() for part in every.split(lengths)]

    def _log_probabilities(
        self, work: Work, batch: list[int], pngs: Mapping[str, bytes], temperature: float
    ) -> tuple[Tensor, Tensor]:
        rows = [work.windows[i] for i in batch]
        packed = self.settings.packed and len(rows) > 1
        return log_probabilities(self.family, self.model, rows, pngs, temperature=temperature, packed=packed)

    def _gathered(self, names: Sequence[str], parts: list[Any], counts: list[int]) -> dict[str, float]:
        """The numbers of all micro-batches of all ranks as those of one batch."""
        mine = joined(parts, counts) or dict.fromkeys(names, 0.0)
        every = self.ranks.gather(torch.tensor([*(mine[name] for name in names), sum(counts)], dtype=torch.float64))
        ranks = [dict(zip(names, row[:-1].tolist(), strict=True)) for row in every]
        return joined(ranks, [int(row[-1]) for row in every])

    def _step(self, given: float | None) -> dict[str, float]:
        learning = [p for p in self.model.parameters() if p.requires_grad]
        norm = float(whole(nn.utils.clip_grad_norm_(learning, self.settings.clip)))
        rate = self.settings.rate if given is None else given
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        if math.isfinite(norm):
            self.optimizer.step()
            self.updates += 1
        self.optimizer.zero_grad(set_to_none=True)
        return {"grad_norm": norm, "rate": rate, "skipped": float(not math.isfinite(norm))}

    def _save(self, asked: dict[str, Any]) -> None:
        with attribute(StoreError, f"cannot write the weights to {asked['folder']}"):
            self.export.save(Path(asked["folder"]), writes=self.ranks.leads)

    def _checkpoint(self, asked: dict[str, Any]) -> None:
        folder = Path(asked["folder"])
        with attribute(StoreError, f"cannot write the checkpoint {folder}"), self._drafted(folder) as draft:
            self.export.save(draft, writes=self.ranks.leads)
            write_state(draft, self.model, self.optimizer, self.ranks)
            self.ranks.meet()
            if self.ranks.leads:
                write_progress(draft, {"updates": self.updates, "progress": asked["progress"]})

    def _drafted(self, folder: Path) -> AbstractContextManager[Path]:
        return drafted(folder, leads=self.ranks.leads, meet=self.ranks.meet)

    def _resume(self, asked: dict[str, Any]) -> dict[str, Any]:
        folder = Path(asked["folder"])
        with attribute(ConfigError, f"cannot resume from {folder}"):
            said = read_progress(folder)
            read_state(folder, self.model, self.optimizer, self.ranks)
            self.updates = int(said["updates"])
            progress: dict[str, Any] = said["progress"]
            return progress


def _optimizer(model: nn.Module, settings: EngineSettings, ranks: Ranks) -> torch.optim.Optimizer:
    learning = [p for p in model.parameters() if p.requires_grad]
    groups = [
        {"params": [p for p in learning if p.dim() > 1], "weight_decay": settings.weight_decay},
        {"params": [p for p in learning if p.dim() <= 1], "weight_decay": 0.0},
    ]
    groups = [group for group in groups if group["params"]]
    return torch.optim.AdamW(groups, lr=settings.rate, betas=settings.betas, fused=ranks.device.type == "cuda")
