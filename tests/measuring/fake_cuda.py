"""A stand-in for what torch.cuda and NVML tell and do, so that the code for CUDA is exercised where there is no GPU.

It keeps the books of a caching allocator: what is allocated, what is reserved (whole segments, kept when freed), what
a context takes, what others hold, and the part of the card that this process may reserve. Nothing of CUDA runs.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from jobs.sizing.units import GIB, MIB

SEGMENT_BYTES = 2 * MIB


@dataclass(kw_only=True)
class FakeCard:
    """others: process id -> bytes, as NVML lists them; unlisted_bytes: in use by whom it does not list."""

    uuid: str = "GPU-aaaaaaaa-0000-0000-0000-000000000000"
    name: str = "NVIDIA A100-SXM4-80GB"
    total_bytes: int = 80 * GIB
    capability: tuple[int, int] = (8, 0)
    context_size_bytes: int = 500 * MIB
    driver_bytes: int = 600 * MIB
    others: dict[int, int | None] = field(default_factory=dict)
    displays: dict[int, int] = field(default_factory=dict)
    unlisted_bytes: int = 0
    slices: list["FakeCard"] = field(default_factory=list)
    context_bytes: int = 0
    allocated_bytes: int = 0
    reserved_bytes: int = 0
    most_allocated_bytes: int = 0
    most_reserved_bytes: int = 0
    fraction: float = 1.0
    fractions: list[float] = field(default_factory=list)

    @property
    def used_bytes(self) -> int:
        held = [*self.others.values(), *self.displays.values()]
        return self.context_bytes + self.reserved_bytes + self.unlisted_bytes + sum(size or 0 for size in held)

    @property
    def bare_uuid(self) -> str:
        return self.uuid.partition("-")[2]


class FakeCuda:
    """`own_pid`: by what number the driver knows this process; None where it lists it nowhere."""

    def __init__(self, *cards: FakeCard, own_pid: int | None = None, with_nvml: bool = True) -> None:
        self.cards = list(cards) or [FakeCard()]
        self.own_pid = own_pid
        self.with_nvml = with_nvml
        self.knows_v2 = True
        self.lists_processes = True
        self.asserted = False
        self.pinned_bytes = 0
        self.most_pinned_bytes = 0
        self.synchronised = 0

    def allocate(self, size_bytes: int, index: int = 0) -> None:
        """As the caching allocator: from what it holds, else in whole segments, else refused."""
        self._refuse_asserted()
        card = self.cards[index]
        needed = -(-(card.allocated_bytes + size_bytes) // SEGMENT_BYTES) * SEGMENT_BYTES
        reserved = max(card.reserved_bytes, needed)
        free = card.total_bytes - (card.used_bytes - card.reserved_bytes)
        if reserved > card.fraction * card.total_bytes or reserved > free:
            raise torch.OutOfMemoryError(
                f"CUDA out of memory. Tried to allocate {size_bytes / MIB:.2f} MiB. GPU {index} has a total capacity "
                f"of {card.total_bytes / GIB:.2f} GiB."
            )
        card.allocated_bytes += size_bytes
        card.reserved_bytes = reserved
        card.most_allocated_bytes = max(card.most_allocated_bytes, card.allocated_bytes)
        card.most_reserved_bytes = max(card.most_reserved_bytes, card.reserved_bytes)

    def free(self, size_bytes: int, index: int = 0) -> None:
        self.cards[index].allocated_bytes -= size_bytes

    def pin(self, size_bytes: int) -> None:
        self.pinned_bytes += size_bytes
        self.most_pinned_bytes = max(self.most_pinned_bytes, self.pinned_bytes)

    def install(self, patch: pytest.MonkeyPatch) -> "FakeCuda":
        for name in (
            "is_available",
            "device_count",
            "get_device_properties",
            "mem_get_info",
            "max_memory_allocated",
            "max_memory_reserved",
            "memory_reserved",
            "reset_peak_memory_stats",
            "set_per_process_memory_fraction",
            "synchronize",
            "empty_cache",
            "host_memory_stats",
            "reset_peak_host_memory_stats",
        ):
            patch.setattr(torch.cuda, name, getattr(self, name))
        patch.setattr(torch._C, "_host_emptyCache", self.host_empty_cache, raising=False)
        patch.setattr(torch, "zeros", self._zeros(torch.zeros))
        patch.setitem(__import__("sys").modules, "pynvml", self.pynvml() if self.with_nvml else None)
        patch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
        patch.delenv("MEASURED_DEVICES", raising=False)
        return self

    # torch.cuda's own functions

    def is_available(self) -> bool:
        return True

    def device_count(self) -> int:
        """Of a card cut up by MIG a process sees one slice."""
        return len(self.cards)

    def get_device_properties(self, device: Any) -> Any:
        card = self._card(device)
        seen = card.slices[0] if card.slices else card
        return SimpleNamespace(
            name=seen.name,
            total_memory=seen.total_bytes,
            major=card.capability[0],
            minor=card.capability[1],
            uuid=seen.bare_uuid,
            multi_processor_count=108,
        )

    def mem_get_info(self, device: Any) -> tuple[int, int]:
        card = self._card(device)
        return card.total_bytes - card.used_bytes, card.total_bytes

    def max_memory_allocated(self, device: Any) -> int:
        return self._card(device).most_allocated_bytes

    def max_memory_reserved(self, device: Any) -> int:
        return self._card(device).most_reserved_bytes

    def memory_reserved(self, device: Any) -> int:
        return self._card(device).reserved_bytes

    def reset_peak_memory_stats(self, device: Any) -> None:
        card = self._card(device)
        card.most_allocated_bytes, card.most_reserved_bytes = card.allocated_bytes, card.reserved_bytes

    def set_per_process_memory_fraction(self, fraction: float, device: Any) -> None:
        if not isinstance(fraction, float) or not 0 <= fraction <= 1:
            raise ValueError(f"Invalid fraction value: {fraction}. Allowed range: 0~1")
        card = self._card(device)
        card.fraction = fraction
        card.fractions.append(fraction)

    def synchronize(self, device: Any = None) -> None:
        self.synchronised += 1
        self._refuse_asserted()

    def empty_cache(self) -> None:
        self._refuse_asserted()
        for card in self.cards:
            card.reserved_bytes = -(-card.allocated_bytes // SEGMENT_BYTES) * SEGMENT_BYTES

    def host_memory_stats(self) -> dict[str, int]:
        return {"allocated_bytes.peak": self.most_pinned_bytes}

    def reset_peak_host_memory_stats(self) -> None:
        self.most_pinned_bytes = self.pinned_bytes

    def host_empty_cache(self) -> None:
        self.pinned_bytes = 0

    def _zeros(self, real: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
        def zeros(*size: Any, device: Any = None, **options: Any) -> torch.Tensor:
            if device is None or torch.device(device).type != "cuda":
                return real(*size, device=device, **options)
            card = self._card(device)
            card.context_bytes = card.context_bytes or card.context_size_bytes
            return real(*size, **options)

        return zeros

    def _refuse_asserted(self) -> None:
        if self.asserted:
            raise RuntimeError("CUDA error: device-side assert triggered")

    def _card(self, device: Any) -> FakeCard:
        return self.cards[device if isinstance(device, int) else torch.device(device).index or 0]

    # NVML

    def pynvml(self) -> Any:
        class NVMLError(Exception):
            pass

        def memory_info(card: FakeCard, version: int | None = None) -> Any:
            """The second version tells the driver's own part apart; the first counts it as used."""
            if version and not self.knows_v2:
                raise NVMLError("not supported")
            used = card.used_bytes if version else card.used_bytes + card.driver_bytes
            return SimpleNamespace(total=card.total_bytes, used=used)

        def processes(card: FakeCard) -> list[Any]:
            if not self.lists_processes:
                raise NVMLError("not permitted")
            own = [(self.own_pid, card.context_bytes + card.reserved_bytes)] if card.context_bytes else []
            listed = [*card.others.items(), *((pid, size) for pid, size in own if pid is not None)]
            return [SimpleNamespace(pid=pid, usedGpuMemory=size) for pid, size in listed]

        def by_uuid(uuid: str) -> FakeCard:
            every = [one for card in self.cards for one in (card, *card.slices)]
            found = [card for card in every if card.uuid == uuid]
            if not found:
                raise NVMLError("not found")
            return found[0]

        def slice_at(card: FakeCard, index: int) -> FakeCard:
            if index >= len(card.slices):
                raise NVMLError("not found")
            return card.slices[index]

        return SimpleNamespace(
            NVMLError=NVMLError,
            nvmlMemory_v2=2,
            nvmlInit=lambda: None,
            nvmlDeviceGetCount=lambda: len(self.cards),
            nvmlDeviceGetHandleByIndex=lambda index: self.cards[index],
            nvmlDeviceGetHandleByUUID=by_uuid,
            nvmlDeviceGetUUID=lambda card: card.uuid,
            nvmlDeviceGetName=lambda card: card.name,
            nvmlDeviceGetMemoryInfo=memory_info,
            nvmlDeviceGetMaxMigDeviceCount=lambda card: 7,
            nvmlDeviceGetMigDeviceHandleByIndex=slice_at,
            nvmlDeviceGetComputeRunningProcesses=processes,
            nvmlDeviceGetGraphicsRunningProcesses=lambda card: [
                SimpleNamespace(pid=pid, usedGpuMemory=size) for pid, size in card.displays.items()
            ],
            nvmlSystemGetDriverVersion=lambda: "580.65.06",
        )


def listed(*cards: FakeCard, **how: Any) -> FakeCuda:
    """As on a machine of one's own, where the driver lists this process by its number."""
    return FakeCuda(*cards, own_pid=os.getpid(), **how)
