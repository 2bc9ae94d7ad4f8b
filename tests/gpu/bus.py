"""What the bus between CPU RAM and the card carries, which bounds an offloading cache."""

from time import perf_counter

import torch

COPIED_BYTES = 2**30
COPIES = 5


def bytes_per_s(device: str, *, to_device: bool, size_bytes: int = COPIED_BYTES) -> float:
    """The fastest of five copies between pinned memory and the card."""
    there = torch.empty(size_bytes, dtype=torch.uint8, device=device)
    here = torch.empty(size_bytes, dtype=torch.uint8, pin_memory=there.is_cuda)
    source, target = (here, there) if to_device else (there, here)
    fastest_s = min(_copy_s(source, target) for _ in range(COPIES))
    return size_bytes / fastest_s


def _copy_s(source: torch.Tensor, target: torch.Tensor) -> float:
    _wait(source, target)
    began = perf_counter()
    target.copy_(source, non_blocking=True)
    _wait(source, target)
    return perf_counter() - began


def _wait(*tensors: torch.Tensor) -> None:
    if any(tensor.is_cuda for tensor in tensors):
        torch.cuda.synchronize()
