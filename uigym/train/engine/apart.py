"""An engine in a process of its own.

The process that plays drives dozens of browsers and a server from one interpreter. A model that learns in it waits for
that interpreter at each of its thousands of small operations, and its GPU stands idle meanwhile: on a small model an
update took ten times as long beside the players as alone. In a process of its own it has an interpreter to itself.

    run        Apart(...).train(...)    -- JSON and PNGs over a pipe -->    process    Engine(...).train(...)
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from uigym.errors import UIGymError
from uigym.models.families.family import Family
from uigym.train.engine import wire
from uigym.train.engine.settings import EngineSettings
from uigym.train.engine.work import Advantage, Work
from uigym.train.losses import LossSettings
from uigym.train.windows import Window

_ENDS_S = 30.0
"""How long the process may take to end when it is asked to."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where the engine is."""

    count: int
    """Processes that train together."""
    device: str
    leads: bool = True


class Apart:
    """`Engine`, but its model, optimizer and arithmetic are in a process that ends with this one.

    Under `torchrun` that process takes the place of rank 0.

    Args:
        family: Of the checkpoint.
        folder: The checkpoint.
        settings: How it computes and learns.
        loss: Of `train`.
        device: "cpu", "cuda"; None takes this rank's GPU, where there is one.

    Raises:
        ConfigError: The settings do not fit the model or the machine, or need a package that is not installed.
        UIGymError: The process does not come up.
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
        self._line, theirs = Pipe()
        self._one = threading.Lock()
        self._process = _process(theirs)
        theirs.close()
        asked = {
            "folder": str(folder),
            "settings": asdict(self.settings),
            "loss": asdict(self.loss),
            "device": device,
            "threads": torch.get_num_threads(),
            "seed": torch.initial_seed(),
        }
        try:
            self.ranks = Place(**self._ask(asked))
        except BaseException:
            self.close()
            raise

    @property
    def pid(self) -> int:
        """Of the process."""
        return self._process.pid

    # --- learning: see `Engine` ---

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
        """See `Engine.train`."""
        work = Work(windows, advantages, old, reference, denominator, rate)
        learnt: dict[str, float] = self._work("train", work, pngs)
        return learnt

    def imitate(
        self, windows: Sequence[Window], pngs: Mapping[str, bytes], *, rate: float | None = None
    ) -> dict[str, float]:
        """See `Engine.imitate`."""
        learnt: dict[str, float] = self._work("imitate", Work(windows, rate=rate), pngs)
        return learnt

    def score(self, windows: Sequence[Window], pngs: Mapping[str, bytes]) -> list[list[float]]:
        """See `Engine.score`."""
        scores: list[list[float]] = self._work("score", Work(windows), pngs)
        return scores

    # --- weights: see `Engine` ---

    def named(self) -> Iterable[tuple[str, Tensor]]:
        """See `Engine.named`: by way of a folder in memory, and on the CPU. `send` is quicker."""
        return self._read()

    def _read(self) -> Iterator[tuple[str, Tensor]]:
        from safetensors import safe_open

        shared = Path("/dev/shm")  # a file system in memory, where there is one
        with tempfile.TemporaryDirectory(prefix="uigym-weights-", dir=shared if shared.is_dir() else None) as folder:
            self.save(Path(folder))
            for path in sorted(Path(folder).glob("*.safetensors")):
                with safe_open(path, "pt") as file:
                    for name in file.keys():  # noqa: SIM118 - it is no mapping
                        yield name, file.get_tensor(name)

    def send(self, way: str, url: str, version: int) -> None:
        """Send the weights to a server from the GPU that they are on, while the server is paused.

        Args:
            way: Of `uigym.train.sync.WAYS`.
            url: Of the server.
            version: Of the weights.

        Raises:
            PolicyError: It did not work.
        """
        self._ask({"do": "send", "way": way, "url": url, "version": version})

    def save(self, folder: Path) -> None:
        """See `Engine.save`."""
        self._ask({"do": "save", "folder": str(folder)})

    def checkpoint(self, folder: Path, progress: dict[str, Any] | None = None) -> None:
        """See `Engine.checkpoint`."""
        self._ask({"do": "checkpoint", "folder": str(folder), "progress": progress})

    def resume(self, folder: Path) -> dict[str, Any]:
        """See `Engine.resume`."""
        progress: dict[str, Any] = self._ask({"do": "resume", "folder": str(folder)})
        return progress

    def close(self) -> None:
        """End the process."""
        try:
            with self._one:
                wire.put(self._line, {"do": "close"})
                self._line.close()
            self._process.wait(_ENDS_S)
        except (OSError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()

    # --- the process ---

    def _work(self, name: str, work: Work, pngs: Mapping[str, bytes]) -> Any:
        hashes = sorted({picture.hash for window in work.windows for picture in window.pictures})
        return self._ask({"do": name, "work": work.to_json(), "pngs": hashes}, [pngs[hash] for hash in hashes])

    def _ask(self, message: dict[str, Any], blobs: Sequence[bytes] = ()) -> Any:
        """What the process answers; one question at a time."""
        try:
            with self._one:
                wire.put(self._line, message, blobs)
                answer, _ = wire.take(self._line)
        except (EOFError, OSError) as exc:
            code = self._process.wait(_ENDS_S)
            raise UIGymError(
                f"the process that learns (pid {self._process.pid}) has ended with code {code} in "
                f"{message.get('do', 'its start')}; its last words are above. Start the run again: it goes on from its "
                "newest checkpoint"
            ) from exc
        if "error" in answer:
            raise wire.meant(answer["error"])
        return answer["said"]


def _process(line: Connection) -> subprocess.Popen[bytes]:
    """Start it. In a session of its own, so that an interrupt from the keyboard reaches the run alone, which ends it."""
    command = [sys.executable, "-m", "uigym.train.engine.process", str(line.fileno())]
    return subprocess.Popen(
        command, pass_fds=[line.fileno()], stdin=subprocess.DEVNULL, start_new_session=True, env=os.environ
    )
