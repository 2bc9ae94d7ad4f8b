"""Memory of this process as the kernel counts it: the peak, and a hard limit.

The peak is the rise of VmHWM, reset through /proc/self/clear_refs. It is right to a fraction of a MiB only if the
process was started with MALLOC_MMAP_THRESHOLD_=16384 (each tensor's memory returns to the kernel when freed) and if
the same shapes ran before (the first time, oneDNN keeps up to 15 MiB of data and 3 MiB resident for good).
"""

import ctypes
import gc
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from jobs.measuring.devices import host_memory_bytes

RESET_PEAK = "5"  # written to clear_refs: VmHWM becomes VmRSS
# Small blocks besides tensors: with this much over the capacity no false refusal was seen.
ALLOWANCE_BYTES = 2 * 2**20
STATUS = Path("/proc/self/status")
CLEAR_REFS = Path("/proc/self/clear_refs")


def status_bytes(name: str) -> int:
    """A size in /proc/self/status (VmRSS, VmHWM, VmData), which are given in KiB."""
    for line in STATUS.read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"the kernel reports no {name}")


class CpuMemory:
    """The three budgets in host memory: what rose beside the weights, which are counted by their storages."""

    kind = "cpu"

    def __init__(self, *, weights_bytes: int) -> None:
        self._weights_bytes = weights_bytes
        self._resident_bytes = 0
        self._with_onednn = bool(torch.backends.mkldnn.enabled)

    def begin(self) -> None:
        """A new point; nothing is kept from one pass to the next."""

    def settle(self) -> None:
        """Give back what is free: small blocks kept in the heap make a point read up to 3 MiB low."""
        gc.collect()
        ctypes.CDLL(None).malloc_trim(0)

    def start(self) -> None:
        self.settle()
        CLEAR_REFS.write_text(RESET_PEAK)
        self._resident_bytes = status_bytes("VmRSS")

    def peak_bytes(self) -> int:
        """The most since `start`, weights included."""
        return self._weights_bytes + max(0, status_bytes("VmHWM") - self._resident_bytes)

    def host_bytes(self, cache_bytes: int) -> int:
        """CPU RAM of a cache beside the device's memory: here they are one."""
        return 0

    def note_cache(self, cache: Any) -> None:
        """There is one place that it can be."""

    def is_sound(self) -> bool:
        """Whether torch still uses oneDNN: a refused allocation makes it turn that off, in silence, for good."""
        return bool(torch.backends.mkldnn.enabled) == self._with_onednn

    def figures(self) -> dict[str, Any]:
        """What a GPU tells beside the peak."""
        return {}

    def tainted(self) -> str | None:
        """Others' memory is not in this process's figures."""
        return None

    def synchronise(self) -> None:
        """Nothing runs behind the process's back."""

    @contextmanager
    def limited_to(self, capacity_bytes: int) -> Iterator[None]:
        """Refuse what does not fit beside the weights within the capacity: allocations fail as they would there."""
        left_bytes = capacity_bytes - self._weights_bytes
        limit = status_bytes("VmData") + left_bytes + ALLOWANCE_BYTES
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (limit, hard))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_DATA, (hard, hard))

    @contextmanager
    def kept_from_harm(self) -> Iterator[None]:
        """For a pass without the capacity's limit: stay within the machine, or the kernel kills somebody."""
        free_bytes = min(_available_bytes(), host_memory_bytes())
        with self.limited_to(self._weights_bytes + free_bytes * 9 // 10):
            yield


def _available_bytes() -> int:
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return host_memory_bytes()
