"""Tensors that may be split over the ranks: the whole, the part that is here, and where it begins."""

from __future__ import annotations

from torch import Tensor
from torch.distributed.tensor import DTensor


def whole(tensor: Tensor) -> Tensor:
    """All of a tensor, without gradient. All ranks must ask together."""
    tensor = tensor.detach()
    return tensor.full_tensor() if isinstance(tensor, DTensor) else tensor


def here(tensor: Tensor) -> Tensor:
    """The rows that this rank holds, without gradient, sharing memory."""
    tensor = tensor.detach()
    return tensor.to_local() if isinstance(tensor, DTensor) else tensor


def first_row(tensor: Tensor) -> int:
    """Index in the whole of the first row that this rank holds; what is not split begins at 0."""
    if not isinstance(tensor, DTensor):
        return 0
    mesh = tensor.device_mesh
    each = -(-tensor.shape[0] // mesh.size())
    return min(each * mesh.get_local_rank(), tensor.shape[0])
