"""New weights into a running vLLM server without the disk, through the endpoints that it has for this.

The server is paused meanwhile, which is the sampler's business, as are its caches and a reload from the disk.

| way | needs |
|---|---|
| `Nccl` | trainer and server on different GPUs; the server started with `--weight-transfer-config '{"backend": "nccl"}'` |
| `Ipc` | both on one GPU; `'{"backend": "ipc"}'`, `VLLM_ALLOW_INSECURE_SERIALIZATION=1` for the server, and ray installed |

Both need vLLM where the trainer runs, of the server's version: 0.23. `Ipc` has the server unpickle what it is sent, so
that whoever reaches its port can run code there: keep it on the loopback.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor

from uigym.errors import ConfigError, MissingExtra, PolicyError, attribute
from uigym.policy.endpoint import Endpoint
from uigym.policy.sampler import Weights
from uigym.policy.vllm import Transfer

BUFFER_BYTES = 2**30
"""Tensors travel together in pieces of about this size; one that is larger goes alone."""
_SETTLES_S = 0.25
"""In which a server that cannot receive has said so."""


class Channel(Protocol):
    """How tensors get to the server's GPUs."""

    def open(self, port: int, world: int) -> None:
        """Meet the server's processes; returns when all are there."""

    def send(self, tensors: Iterator[tuple[str, Tensor]]) -> None:
        """Give them the tensors in order; they have all of them when it returns."""


class Broadcast:
    """vLLM's own NCCL broadcast, from the GPU that this process uses.

    Raises:
        MissingExtra: vLLM is not installed here.
    """

    def __init__(self) -> None:
        self.device = torch.cuda.current_device() if torch.cuda.is_available() else None
        try:
            from vllm.distributed.weight_transfer.nccl_engine import NCCLWeightTransferEngine
        except ImportError as exc:
            raise MissingExtra("vLLM, which sends weights by NCCL,", "vllm") from exc
        self._engine: Any = NCCLWeightTransferEngine
        if not hasattr(self._engine, "trainer_init"):
            raise ConfigError("this vLLM has other classes to send weights with; install vllm 0.23, or sync by disk")
        self._group: Any = None

    def open(self, port: int, world: int) -> None:
        """Meet the server's processes on the loopback."""
        torch.cuda.set_device(self.device)  # this runs in a thread of its own
        place = {"master_address": "127.0.0.1", "master_port": port, "world_size": world}
        self._group = self._engine.trainer_init(place)

    def send(self, tensors: Iterator[tuple[str, Tensor]]) -> None:
        """Broadcast tensors, several at once."""
        torch.cuda.set_device(self.device)
        torch.cuda.synchronize()  # the broadcast reads on streams of its own
        args = {"group": self._group, "packed": True, "packed_buffer_size_bytes": BUFFER_BYTES}
        self._engine.trainer_send_weights(iterator=tensors, trainer_args=args)
        torch.cuda.synchronize()


@dataclass(frozen=True, slots=True)
class _Kind:
    """What the server must know of tensors before they come."""

    names: list[str]
    dtype_names: list[str]
    shapes: list[list[int]]


class Nccl:
    """Sends weights from the trainer's GPU to the server's.

    Args:
        channel: How; None is vLLM's NCCL broadcast.
        timeout_s: Longest that an exchange may take.
    """

    def __init__(self, channel: Channel | None = None, *, timeout_s: float = 600.0):
        self._channel = channel
        self._open = False
        self._kind: _Kind | None = None
        self.timeout_s = timeout_s

    async def send(self, weights: Weights, endpoint: Endpoint, version: int) -> None:
        """Give the server these weights, while it is paused.

        A server that began anew since the last time is met again.

        Raises:
            PolicyError: It did not work.
        """
        with attribute(PolicyError, f"sending the weights of version {version} to {endpoint.url}"):
            try:
                async with asyncio.timeout(self.timeout_s):
                    if not (self._open and await self._exchange(weights, endpoint)):
                        await self._meet(endpoint)
                        if not await self._exchange(weights, endpoint):
                            raise PolicyError(f"{endpoint.url} does not receive weights, although it was met just now")
            except BaseException:
                self._open = False  # whoever waits at the other end is not to be trusted any more
                raise

    async def _meet(self, endpoint: Endpoint) -> None:
        channel = self._channel = self._channel or Broadcast()
        world = int((await endpoint.get("/get_world_size"))["world_size"]) + 1
        port = _free_port()
        place = {"master_address": "127.0.0.1", "master_port": port, "rank_offset": 1, "world_size": world}
        told = asyncio.ensure_future(endpoint.post("/init_weight_transfer_engine", {"init_info": place}))
        await _both(told, _in_thread(lambda: channel.open(port, world)))
        self._open = True

    async def _exchange(self, weights: Weights, endpoint: Endpoint) -> bool:
        """Whether the server received; False where it refused before anything was sent."""
        channel = self._channel
        assert channel is not None, "an exchange needs a channel: meet the server first"
        kind = self._kind = self._kind or await _in_thread(lambda: _kind(weights.named()))
        await endpoint.post("/start_weight_update", {"is_checkpoint_format": True})
        info = {
            "names": kind.names,
            "dtype_names": kind.dtype_names,
            "shapes": kind.shapes,
            "packed": True,
            "packed_buffer_size_bytes": BUFFER_BYTES,
        }
        told = asyncio.ensure_future(endpoint.post("/update_weights", {"update_info": info}))
        done, _ = await asyncio.wait({told}, timeout=_SETTLES_S)
        if done:
            told.exception()
            return False
        await _both(told, _in_thread(lambda: channel.send(iter(weights.named()))))
        await endpoint.post("/finish_weight_update")
        return True


class Ipc:
    """Shows the weights to a server on the same GPU, which copies them."""

    def __init__(self) -> None:
        try:
            from vllm.distributed.weight_transfer.ipc_engine import IPCWeightTransferEngine
        except ImportError as exc:
            raise MissingExtra("vLLM with ray, which shows weights to a server on the same GPU,", "vllm") from exc
        self._engine: Any = IPCWeightTransferEngine
        self.device = torch.cuda.current_device()

    async def send(self, weights: Weights, endpoint: Endpoint, version: int) -> None:
        """Give the server these weights, while it is paused.

        Raises:
            PolicyError: It did not work.
        """
        with attribute(PolicyError, f"showing the weights of version {version} to {endpoint.url}"):
            await endpoint.post("/init_weight_transfer_engine", {"init_info": {}})
            await endpoint.post("/start_weight_update", {"is_checkpoint_format": True})
            await _in_thread(lambda: self._show(weights, endpoint.url))
            await endpoint.post("/finish_weight_update")

    def _show(self, weights: Weights, url: str) -> None:
        torch.cuda.set_device(self.device)
        args = {"send_mode": "http", "url": url, "packed": True, "packed_buffer_size_bytes": 4 * BUFFER_BYTES}
        self._engine.trainer_send_weights(iterator=iter(weights.named()), trainer_args=args)


WAYS: dict[str, Callable[[], Transfer]] = {"nccl": Nccl, "ipc": Ipc}
"""By the name of vLLM's backend."""


class Sender(Weights, Protocol):
    """Weights in another process, which sends them itself."""

    def send(self, way: str, url: str, version: int) -> None:
        """Send them to the server there; returns when it has them."""


@dataclass(frozen=True, slots=True)
class There:
    """Has the process that holds the weights send them."""

    way: str
    """Of `WAYS`."""
    holder: Sender

    async def send(self, weights: Weights, endpoint: Endpoint, version: int) -> None:
        """Give the server the holder's weights, while it is paused.

        Raises:
            PolicyError: It did not work.
        """
        if weights is not self.holder:
            raise ValueError("these weights are not those of the process that sends")
        await _in_thread(lambda: self.holder.send(self.way, endpoint.url, version))


async def sleep(endpoint: Endpoint, level: int = 1) -> None:
    """Free the server's GPU memory for a trainer on the same GPU, after what it is doing.

    Args:
        endpoint: The server, started with `--enable-sleep-mode`.
        level: 1 keeps the weights in the host's memory; 2 drops them, so that new ones must be sent after waking.
    """
    await endpoint.post("/sleep", level=level, mode="wait")


async def wake_weights(endpoint: Endpoint) -> None:
    """Take memory for the weights alone, to send new ones; nothing may be asked of the server before `wake_cache`."""
    await endpoint.post("/wake_up", tags="weights")


async def wake_cache(endpoint: Endpoint) -> None:
    """Take memory for the cache: the server can be asked again."""
    await endpoint.post("/wake_up", tags="kv_cache")


def _kind(tensors: Iterable[tuple[str, Tensor]]) -> _Kind:
    found = [(name, str(tensor.dtype).removeprefix("torch."), list(tensor.shape)) for name, tensor in tensors]
    names, dtypes, shapes = (list(part) for part in zip(*found, strict=True))
    return _Kind(names, dtypes, shapes)


async def _both(told: asyncio.Future[Any], done: asyncio.Future[None]) -> None:
    """Wait for the server's answer and for our own part; where one fails the other is not waited for."""
    try:
        await asyncio.gather(told, done)
    finally:
        told.cancel()


def _in_thread(work: Callable[[], Any]) -> asyncio.Future[Any]:
    """Run something that blocks in a thread that does not hold up the end of the process.

    A broadcast that the other end has left never returns.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()

    def settle(value: Any, error: BaseException | None) -> None:
        if not future.done():
            future.set_exception(error) if error is not None else future.set_result(value)

    def run() -> None:
        try:
            value, error = work(), None
        except Exception as exc:
            value, error = None, exc
        if not loop.is_closed():
            loop.call_soon_threadsafe(settle, value, error)

    threading.Thread(target=run, name="weights", daemon=True).start()
    return future


def _free_port() -> int:
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
