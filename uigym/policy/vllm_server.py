"""A vLLM server of our own: started on the loopback, waited for, started again when it dies, ended with its processes."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import shlex
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn, Protocol

from uigym.errors import ConfigError, PolicyError, ProductError
from uigym.policy.endpoint import Endpoint, Unreachable
from uigym.product.command import Command

_log = logging.getLogger(__name__)
_RESTARTS = 3
"""How often it is started again within `_WINDOW_S`."""
_WINDOW_S = 600.0
_PAUSE_S = 0.25
_SETTINGS = {
    "VLLM_SERVER_DEV_MODE": "1",  # pause, resume, caches and weights are among its routes
    "VLLM_USE_FLASHINFER_SAMPLER": "0",  # compiles at start, and cannot give the log-probabilities that are asked for
    "VLLM_NO_USAGE_STATS": "1",
    "DO_NOT_TRACK": "1",
    "HF_HUB_OFFLINE": "1",
}
# Tells without importing vLLM, which takes seconds, whether the routes for ids have a switch of their own.
_PROBE = """
import importlib.util, pathlib, sys
found = importlib.util.find_spec("vllm")
if found is None: sys.exit("vllm is not installed")
root = pathlib.Path(found.origin).parent / "entrypoints"
print(any("enable_scale_out" in each.read_text() for each in root.glob("**/cli_args.py")))
"""


class Server(Protocol):
    """Where a `VLLMSampler` asks."""

    starts: int
    """How often it has begun anew, as far as is known: what it had been told before is then lost."""
    folder: Path | None
    """Checkpoint that it begins with; None where that is not ours to know."""
    version: int
    """Of that checkpoint."""

    async def ready(self) -> Endpoint:
        """The server, once it takes requests.

        Raises:
            PolicyError: It does not come up.
        """

    def failed(self) -> None:
        """Say that it broke off while it was asked."""

    def output(self) -> str:
        """The last lines that it wrote, as the end of an error's text; empty if they are not known."""

    async def close(self) -> None:
        """End what was started."""


class Given:
    """A server that somebody else started, and that goes on when we end.

    Args:
        url: Such as http://127.0.0.1:8000.
        patience_s: How long it may be away.
        timeout_s: Longest wait for an answer.
    """

    folder: Path | None = None
    version = 0

    def __init__(self, url: str, *, patience_s: float = 60.0, timeout_s: float = 600.0):
        self.endpoint = Endpoint(url, timeout_s=timeout_s)
        self.patience_s = patience_s
        self.starts = 1
        self._asked = False
        self._broken = False

    async def ready(self) -> Endpoint:
        """The server, once it answers."""
        if self._asked and not self._broken:
            return self.endpoint
        last = await _until_up(self.endpoint, self.patience_s, lambda: None)
        if last:
            raise PolicyError(f"no server at {self.endpoint.url} within {self.patience_s:g} s: {last}. Is it running?")
        self.starts += self._broken  # it may be a new one
        self._asked, self._broken = True, False
        return self.endpoint

    def failed(self) -> None:
        """Ask again whether it is there."""
        self._broken = True

    def output(self) -> str:
        """Nothing: its output goes elsewhere."""
        return ""

    async def close(self) -> None:
        """Close the connections."""
        await self.endpoint.close()


@dataclass(frozen=True, kw_only=True)
class Serving:
    """How a server is started. Made for one process on one or several GPUs, or on a CPU."""

    python: str = sys.executable
    """Interpreter of the environment that vLLM is in; it may be another one than ours."""
    dtype: str = "bfloat16"
    max_tokens: int = 16384
    """Longest context with its reply."""
    pictures: int = 8
    """Most screenshots in a context."""
    memory: float = 0.85
    """Share of the GPU's memory."""
    replies: int = 64
    """Replies at once."""
    gpus: str | None = None
    """As CUDA_VISIBLE_DEVICES says it: "1", "2,3"; None is what this process sees."""
    transfer: str | None = None
    """Backend of vLLM's weight transfer: nccl, ipc; None reloads from the disk."""
    sleep: bool = False
    """Whether it can give up its GPU's memory for a while."""
    more: tuple[str, ...] = ()
    """Further arguments of `vllm serve`."""
    environment: Mapping[str, str] = field(default_factory=dict)
    start_s: float = 900.0
    """How long it may take to come up."""
    timeout_s: float = 600.0
    """Longest wait for an answer."""

    def arguments(self, folder: Path) -> list[str]:
        """What `vllm serve` is started with, but for what depends on its version."""
        said = {
            "--model": str(folder),
            "--host": "127.0.0.1",
            "--port": "{port}",
            "--served-model-name": "policy",
            "--dtype": self.dtype,
            "--max-model-len": str(self.max_tokens),
            "--max-num-seqs": str(self.replies),
            "--gpu-memory-utilization": str(self.memory),
            "--logprobs-mode": "processed_logprobs",
            "--generation-config": "vllm",
            "--load-format": "safetensors",
            "--limit-mm-per-prompt": json.dumps({"image": self.pictures, "video": 0}, separators=(",", ":")),
            "--uvicorn-log-level": "warning",
        }
        if self.transfer:
            said["--weight-transfer-config"] = json.dumps({"backend": self.transfer}, separators=(",", ":"))
        switches = ["--skip-mm-profiling", *(["--enable-sleep-mode"] if self.sleep else [])]
        return [*(word for pair in said.items() for word in pair), *switches, *self.more]


SERVING = Serving()


class VLLMServer:
    """`vllm serve` as a process of ours, on a loopback port that nobody else has.

    Args:
        folder: The checkpoint that it serves.
        serving: How it is started.
        command: What is run instead of vLLM, with "{port}" in it; for tests and for launchers of one's own.
    """

    def __init__(self, folder: str | Path, serving: Serving = SERVING, *, command: list[str] | None = None):
        self.folder: Path | None = Path(folder).absolute()
        if not (self.folder / "config.json").is_file():
            raise ConfigError(f"no checkpoint in {self.folder}: expected a folder with config.json")
        self.serving = serving
        self.version = 0
        self.starts = 0
        self._given = command
        self._command: Command | None = None
        self._endpoint: Endpoint | None = None
        self._broken = False
        self._begun: deque[float] = deque(maxlen=_RESTARTS + 1)
        self._starting = asyncio.Lock()

    @property
    def pid(self) -> int | None:
        """Of the server's process; None while there is none."""
        return self._command.pid if self._command is not None else None

    async def ready(self) -> Endpoint:
        """The server, started if it is not there and started again if it has died.

        Raises:
            PolicyError: It did not come up, or dies again and again; the text has the last lines of its output.
            ConfigError: vLLM is not installed where it was said to be.
        """
        async with self._starting:
            if self._broken:
                await self._look()
            if self._command is not None and (how := self._command.ended()):
                _log.warning("the vLLM server died: %s; it is started again%s", how, self.output())
                await self._end()
            if self._command is None:
                await self._start()
            assert self._endpoint is not None
            return self._endpoint

    def failed(self) -> None:
        """Look after it before it is asked again."""
        self._broken = True

    def output(self) -> str:
        """The last lines that it wrote, as the end of an error's text."""
        lines = self._command.output() if self._command is not None else ""
        return f"\nLast lines of its output:\n{lines}" if lines else ""

    async def close(self) -> None:
        """End the server with everything that it started."""
        async with self._starting:
            await self._end()

    async def _start(self) -> None:
        now = time.monotonic()
        if len(self._begun) > _RESTARTS and now - self._begun[0] < _WINDOW_S:
            raise PolicyError(f"the vLLM server died {len(self._begun)} times within {_WINDOW_S:g} s")
        self._begun.append(now)
        assert self.folder is not None
        words = self._given or [
            *(self.serving.python, "-m", "vllm.entrypoints.openai.api_server"),
            *self.serving.arguments(self.folder),
            *await asyncio.to_thread(switches, self.serving.python),
        ]
        settings = {name: os.environ.get(name, value) for name, value in _SETTINGS.items()}
        settings |= {"CUDA_VISIBLE_DEVICES": self.serving.gpus} if self.serving.gpus is not None else {}
        # What shows weights to a server on the same GPU pickles their handles.
        settings |= {"VLLM_ALLOW_INSECURE_SERIALIZATION": "1"} if self.serving.transfer == "ipc" else {}
        settings |= self.serving.environment
        line = [*(f"{name}={value}" for name, value in settings.items()), *words]
        try:
            self._command = Command(shlex.join(line), {"folder": str(self.folder)})
        except ProductError as exc:
            raise PolicyError(f"the vLLM server: {exc}") from exc
        self._endpoint = Endpoint(self._command.base_url, timeout_s=self.serving.timeout_s)
        self.starts += 1
        await self._look()
        if how := self._command.ended():
            await self._give_up(how)

    async def _look(self) -> None:
        """Wait until it is healthy, or has ended."""
        command, endpoint = self._command, self._endpoint
        if command is None or endpoint is None:
            return
        last = await _until_up(endpoint, self.serving.start_s, command.ended)
        if last and not command.ended():
            await self._give_up(last)
        self._broken = False

    async def _give_up(self, why: str) -> NoReturn:
        said = self.output()
        await self._end()
        raise PolicyError(f"the vLLM server with {self.folder} did not come up: {why}{said}")

    async def _end(self) -> None:
        command, endpoint = self._command, self._endpoint
        self._command = self._endpoint = None
        self._broken = False
        if endpoint is not None:
            await endpoint.close()
        if command is not None:
            await command.stop()


def switches(python: str) -> list[str]:
    """What a vLLM needs to be told beyond `Serving.arguments`: newer ones have their routes for ids switched off.

    Raises:
        ConfigError: There is no vLLM in that environment.
    """
    try:
        done = subprocess.run([python, "-c", _PROBE], capture_output=True, text=True, check=False)
    except OSError as exc:
        raise ConfigError(f"{python} cannot be run: {exc}") from exc
    if done.returncode:
        raise ConfigError(
            f"no vLLM beside {python}: {done.stderr.strip()[-300:]}. Install it there, name another interpreter, or a server's address"
        )
    return ["--enable-scale-out"] if done.stdout.strip() == "True" else []


async def _until_up(endpoint: Endpoint, patience_s: float, ended: Callable[[], str | None]) -> str:
    """Wait until a server is healthy; why it is not, if it does not become so, and empty if it does."""
    deadline = time.monotonic() + patience_s
    while True:
        try:
            async with asyncio.timeout(10):
                await endpoint.get("/health")
            return ""
        except (Unreachable, TimeoutError) as exc:
            last = str(exc) or "no answer within 10 s"
        if how := ended():
            return how
        if time.monotonic() >= deadline:
            return f"not healthy after {patience_s:g} s: {last}"
        await asyncio.sleep(_PAUSE_S)
