"""The processes that train together: one a GPU, started by `torchrun`; or this one alone."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor
from torch._C._distributed_c10d import HashStore
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh

from uigym.errors import ConfigError


class Ranks:
    """This process among those that train together. Rank 0 leads.

    Args:
        device: Where this process computes, such as "cpu" or "cuda"; None takes the GPU of this rank, where there is one.
        group: Join a process group even where this process is alone, which sharding needs.

    Raises:
        ConfigError: `torchrun` started more processes than there are GPUs.
    """

    def __init__(self, device: str | None = None, *, group: bool = False):
        self.count = int(os.environ.get("WORLD_SIZE", "1"))
        self.device = _device(device)
        self._joined = False
        if (self.count > 1 or group) and not dist.is_initialized():
            self._join()
        self.number = dist.get_rank() if self.count > 1 else 0

    def _join(self) -> None:
        backend = "nccl" if self.device.type == "cuda" else "gloo"
        if self.device.type == "cuda":
            torch.cuda.set_device(self.device)
        if self.count > 1:
            dist.init_process_group(backend)
        else:  # alone there is nobody to meet, so no port is opened
            dist.init_process_group(backend, store=HashStore(), rank=0, world_size=1)
        self._joined = True

    @property
    def leads(self) -> bool:
        """Whether this process is the one that decides, logs and talks to others."""
        return self.number == 0

    def mesh(self) -> DeviceMesh:
        """All ranks in one row."""
        return init_device_mesh(self.device.type, (self.count,))

    def gather(self, values_N: Tensor) -> Tensor:
        """[N] of every rank -> [ranks, N], on the CPU."""
        if self.count == 1:
            return values_N.detach().cpu()[None]
        mine = values_N.detach().to(self.device).contiguous()
        out = torch.empty(self.count, *mine.shape, dtype=mine.dtype, device=self.device)
        dist.all_gather_into_tensor(out, mine[None]) if self.device.type == "cuda" else dist.all_gather(
            list(out.unbind()), mine
        )
        return out.cpu()

    def meet(self) -> None:
        """Wait until all ranks are here."""
        if self.count > 1:
            dist.barrier()

    def tell(
        self, message: dict[str, Any] | None = None, blobs: Sequence[bytes] = ()
    ) -> tuple[dict[str, Any], list[bytes]]:
        """What rank 0 says, on every rank: JSON values and byte strings. Others call it without arguments."""
        if self.count == 1:
            return message or {}, list(blobs)
        head = json.dumps([message, [len(blob) for blob in blobs]]).encode()
        sizes = torch.tensor([len(head), sum(map(len, blobs))], dtype=torch.int64, device=self.device)
        dist.broadcast(sizes, 0)
        total = int(sizes.sum())
        data = torch.empty(total, dtype=torch.uint8)
        if self.leads:
            data = torch.frombuffer(bytearray(b"".join((head, *blobs))), dtype=torch.uint8)
        data = data.to(self.device)
        dist.broadcast(data, 0)
        return _opened(data.cpu().numpy().tobytes(), int(sizes[0]))

    def close(self) -> None:
        """Leave the group that this object joined."""
        if self._joined and dist.is_initialized():
            self.meet()  # none may still be reading what another said
            dist.destroy_process_group()
            self._joined = False


def _device(wanted: str | None) -> torch.device:
    local = int(os.environ.get("LOCAL_RANK", "0"))
    if wanted == "cpu" or (wanted is None and not torch.cuda.is_available()):
        return torch.device("cpu")
    if wanted not in (None, "cuda"):
        return torch.device(str(wanted))
    if local >= torch.cuda.device_count():
        raise ConfigError(
            f"this is process {local} of its host, which has {torch.cuda.device_count()} GPUs; "
            "start one process a GPU: torchrun --nproc-per-node=GPUS"
        )
    return torch.device("cuda", local)


def _opened(data: bytes, head: int) -> tuple[dict[str, Any], list[bytes]]:
    message, lengths = json.loads(data[:head])
    blobs = []
    for length in lengths:
        blobs.append(data[head : head + length])
        head += length
    return message, blobs
