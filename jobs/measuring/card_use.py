"""Bytes in use on one card, told apart: the allocator's of torch, the CUDA context's, and other processes'.

With a figure of NVML's for this very process, its context is that less what the allocator reserves. Without one (some
containers), it is what the card's use rose by since before there was a context; what others took since then cannot be
told from it. Without NVML nothing is known of it.
"""

import os
from typing import Any

import torch

from jobs.measuring.nvml import Holder, Nvml
from jobs.sizing.units import MIB, bytes_text

NOTICEABLE_BYTES = 64 * MIB
# The driver loads a kernel into the context when it first runs: without a figure of this process, that is a rise too.
KERNELS_BYTES = 256 * MIB


class CardUse:
    """`name` is what the card is called outside; `torch_device` is torch's in this process.

    Made before this process has a context on the card, or the context's bytes are read as nothing.
    """

    def __init__(self, *, name: str, uuid: str, torch_device: torch.device, nvml: Nvml | None) -> None:
        self.name = name
        self.torch_device = torch_device
        self._uuid = uuid
        self._nvml = nvml
        self.pid: int | None = None
        self._before_bytes = None if nvml is None else nvml.used_bytes(uuid)
        self._pids_before = {holder.pid for holder in self._everyone()}
        self._first_bytes: int | None = None
        self.context_bytes = 0
        self._others_at_start: int | None = None
        self._others_most: int | None = None
        self._pids_at_start: set[int] = set()

    def open_context(self) -> None:
        """Make this process's context on the card, and find out what it takes."""
        torch.zeros(1, device=self.torch_device)
        torch.cuda.synchronize(self.torch_device)
        torch.cuda.empty_cache()
        self.pid = self._own_pid()
        self._first_bytes = self._context_now()
        self.context_bytes = max(0, self._first_bytes or 0)

    @property
    def context_is_known(self) -> bool:
        return self._first_bytes is not None

    def grow_context(self) -> None:
        """Read it again: kernels that were loaded meanwhile belong to it."""
        now = self._context_now()
        if now is None or self._first_bytes is None:
            return
        if self._own_bytes() is None:
            now = min(now, self._first_bytes + KERNELS_BYTES)
        self.context_bytes = max(self.context_bytes, now)

    def used_bytes(self) -> int:
        """Of the whole card, by whomever; without NVML as CUDA counts it, which leaves the driver's own part out."""
        used = None if self._nvml is None else self._nvml.used_bytes(self._uuid)
        if used is not None:
            return used
        free_bytes, total_bytes = torch.cuda.mem_get_info(self.torch_device)
        return int(total_bytes - free_bytes)

    def watch(self) -> None:
        """From here on, `note` looks for more in others' hands than now."""
        self._others_at_start = self._others_most = self._others_bytes()
        self._pids_at_start = {holder.pid for holder in self.holders()}

    def note(self) -> None:
        now = self._others_bytes()
        if now is not None and self._others_most is not None:
            self._others_most = max(self._others_most, now)

    def taken_by_others(self) -> str | None:
        """A sentence, where other processes took a noticeable amount since `watch`."""
        if self._others_most is None or self._others_at_start is None:
            return None
        taken = self._others_most - self._others_at_start
        if taken < (NOTICEABLE_BYTES if self._own_bytes() is not None else KERNELS_BYTES):
            return None
        new = [holder.words for holder in self.holders() if holder.pid not in self._pids_at_start]
        who = " and ".join(new) or "other processes"
        return f"During this measurement {who} took {bytes_text(taken)} of {self.name}."

    def holders(self) -> tuple[Holder, ...]:
        """Other processes that compute on the card, as far as the driver names them."""
        return tuple(holder for holder in self._everyone() if holder.pid not in (os.getpid(), self.pid))

    def _own_pid(self) -> int:
        """In a container the driver knows this process by another number: the one that is new, if one alone is."""
        new = {holder.pid for holder in self._everyone()} - self._pids_before
        if os.getpid() in new or len(new) != 1:
            return os.getpid()
        return next(iter(new))

    def _own_bytes(self) -> int | None:
        return next((holder.used_bytes for holder in self._everyone() if holder.pid == self.pid), None)

    def _everyone(self) -> tuple[Holder, ...]:
        return (None if self._nvml is None else self._nvml.holders(self._uuid)) or ()

    def _context_now(self) -> int | None:
        reserved = int(torch.cuda.memory_reserved(self.torch_device))
        own = self._own_bytes()
        if own is not None:
            return own - reserved
        return None if self._before_bytes is None else self.used_bytes() - reserved - self._before_bytes

    def _others_bytes(self) -> int | None:
        if self._nvml is None:
            return None
        own = self._own_bytes()
        if own is None:
            own = int(torch.cuda.memory_reserved(self.torch_device)) + self.context_bytes
        return self.used_bytes() - own

    def figures(self) -> dict[str, Any]:
        """Allocated and reserved are the most since torch's counters were reset, the context's bytes included."""
        return {
            "peak_bytes": int(torch.cuda.max_memory_allocated(self.torch_device)) + self.context_bytes,
            "reserved_bytes": int(torch.cuda.max_memory_reserved(self.torch_device)) + self.context_bytes,
            "device_used_bytes": self.used_bytes(),
            "context_bytes": self.context_bytes,
        }
