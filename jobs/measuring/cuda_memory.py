"""Memory of a CUDA device as torch's allocator counts it, beside what the CUDA context takes.

peak = the most that was allocated + the context. The limit is the allocator's: it is told the part of the device
that the capacity is, less the context, and raises torch.OutOfMemoryError beyond it.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

WHOLE = 1.0


class CudaMemory:
    """The three budgets on one device; the context's bytes are read when the model has been loaded."""

    kind = "cuda"

    def __init__(self, *, device: str, context_bytes: int) -> None:
        self._device = torch.device(device)
        self._context_bytes = context_bytes

    def settle(self) -> None:
        gc.collect()
        torch.cuda.synchronize(self._device)
        torch.cuda.empty_cache()

    def start(self) -> None:
        self.settle()
        torch.cuda.reset_peak_memory_stats(self._device)

    def peak_bytes(self) -> int:
        """The most since `start`, weights and context included."""
        return int(torch.cuda.max_memory_allocated(self._device)) + self._context_bytes

    def peak_reserved_bytes(self) -> int:
        """The most that the allocator held, fragments included, and the context."""
        return int(torch.cuda.max_memory_reserved(self._device)) + self._context_bytes

    def figures(self) -> dict[str, Any]:
        """Beside the peak: what the allocator held and what the whole device has in use."""
        return {
            "reserved_bytes": self.peak_reserved_bytes(),
            "device_used_bytes": device_used_bytes(str(self._device)),
        }

    def tainted(self) -> str | None:
        """What else took memory of the device since `start`."""
        return None

    def is_sound(self) -> bool:
        """The allocator frees its cache and raises: it never goes on otherwise."""
        return True

    def synchronise(self) -> None:
        torch.cuda.synchronize(self._device)

    @contextmanager
    def limited_to(self, capacity_bytes: int) -> Iterator[None]:
        total_bytes = torch.cuda.get_device_properties(self._device).total_memory
        part = min(WHOLE, max(0.0, (capacity_bytes - self._context_bytes) / total_bytes))
        torch.cuda.set_per_process_memory_fraction(part, self._device)
        try:
            yield
        finally:
            torch.cuda.set_per_process_memory_fraction(WHOLE, self._device)

    @contextmanager
    def kept_from_harm(self) -> Iterator[None]:
        """The driver itself refuses what the device has not."""
        yield


def device_used_bytes(device: str) -> int:
    """Bytes in use on the whole device, by whomever."""
    free_bytes, total_bytes = torch.cuda.mem_get_info(torch.device(device))
    return int(total_bytes - free_bytes)


def context_bytes(device: str, *, used_before_bytes: int | None) -> int:
    """What the CUDA context takes: the device's use less the allocator's and what was used before this process.

    used_before_bytes comes from NVML, which needs no context; where it is unknown the context counts as nothing.
    """
    if used_before_bytes is None:
        return 0
    torch.cuda.synchronize(torch.device(device))
    used = device_used_bytes(device) - torch.cuda.memory_reserved(torch.device(device))
    return max(0, int(used) - used_before_bytes)


def used_before_bytes() -> dict[str, int]:
    """Bytes in use by GPU UUID ("GPU-…"), read by NVML before this process has a CUDA context; empty without NVML."""
    try:
        import pynvml
    except ImportError:
        return {}
    try:
        pynvml.nvmlInit()
        handles = [pynvml.nvmlDeviceGetHandleByIndex(index) for index in range(pynvml.nvmlDeviceGetCount())]
        return {_text(pynvml.nvmlDeviceGetUUID(handle)): _used(pynvml, handle) for handle in handles}
    except pynvml.NVMLError:
        return {}


def _used(pynvml: object, handle: object) -> int:
    return int(pynvml.nvmlDeviceGetMemoryInfo(handle).used)  # type: ignore[attr-defined]


def _text(value: object) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
