"""What NVML tells of cards, without a CUDA context: their names, the bytes in use, and which processes hold them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

PROC = Path("/proc")
# The kernel's own number of the first PID namespace: NVML's process ids are that namespace's.
FIRST_PID_NAMESPACE = "pid:[4026531836]"
Told = TypeVar("Told")


@dataclass(frozen=True, kw_only=True)
class Card:
    """A whole card ("GPU-…") or one slice of it ("MIG-…", of the card `slice_of`)."""

    uuid: str
    name: str
    capacity_bytes: int
    slice_of: str | None = None


@dataclass(frozen=True, kw_only=True)
class Holder:
    """A process that computes on a card. `name` is its program's, "" where that cannot be told from in here."""

    pid: int
    name: str
    used_bytes: int | None

    @property
    def words(self) -> str:
        return f"process {self.pid}" + (f" ({self.name})" if self.name else "")


class Nvml:
    """The driver's library, opened; what it cannot tell of a card is None."""

    def __init__(self, library: Any) -> None:
        self._library = library

    @classmethod
    def opened(cls) -> "Nvml | None":
        try:
            import pynvml
        except ImportError:
            return None
        try:
            pynvml.nvmlInit()
        except pynvml.NVMLError:
            return None
        return cls(pynvml)

    def cards(self) -> tuple[Card, ...]:
        """In the order of their PCI addresses; in the place of a card cut into slices, the slices."""
        count = self._told(self._library.nvmlDeviceGetCount) or 0
        return tuple(card for index in range(count) for card in self._cards_at(index))

    def used_bytes(self, uuid: str) -> int | None:
        """Bytes in use on the card by whomever, without what the driver keeps for itself where it tells that apart."""
        handle = self._handle(uuid)
        info = handle and (
            self._told(self._library.nvmlDeviceGetMemoryInfo, handle, getattr(self._library, "nvmlMemory_v2", None))
            or self._told(self._library.nvmlDeviceGetMemoryInfo, handle)
        )
        return int(info.used) if info else None

    def holders(self, uuid: str) -> tuple[Holder, ...] | None:
        """Who computes on the card; displays are none. An unprivileged container is often told of nobody."""
        handle = self._handle(uuid)
        found = handle and self._told(self._library.nvmlDeviceGetComputeRunningProcesses, handle)
        if found is None:
            return None
        return tuple(
            Holder(pid=int(one.pid), name=program_name(int(one.pid)), used_bytes=one.usedGpuMemory) for one in found
        )

    def displayed_bytes(self, uuid: str) -> int:
        """Bytes in the hands of processes that draw on a screen."""
        handle = self._handle(uuid)
        found = handle and self._told(self._library.nvmlDeviceGetGraphicsRunningProcesses, handle)
        return sum(one.usedGpuMemory or 0 for one in found or ())

    def _cards_at(self, index: int) -> Iterator[Card]:
        handle = self._told(self._library.nvmlDeviceGetHandleByIndex, index)
        if handle is None:
            return
        whole = self._card(handle)
        slices = [self._card(part, slice_of=whole.uuid) for part in self._slices(handle)]
        yield from slices or [whole]

    def _slices(self, handle: Any) -> Iterator[Any]:
        most = self._told(self._library.nvmlDeviceGetMaxMigDeviceCount, handle) or 0
        for index in range(most):
            part = self._told(self._library.nvmlDeviceGetMigDeviceHandleByIndex, handle, index)
            if part is not None:
                yield part

    def _card(self, handle: Any, slice_of: str | None = None) -> Card:
        info = self._told(self._library.nvmlDeviceGetMemoryInfo, handle)
        return Card(
            uuid=str(self._told(self._library.nvmlDeviceGetUUID, handle) or ""),
            name=str(self._told(self._library.nvmlDeviceGetName, handle) or "NVIDIA GPU"),
            capacity_bytes=int(info.total) if info else 0,
            slice_of=slice_of,
        )

    def _handle(self, uuid: str) -> Any:
        return self._told(self._library.nvmlDeviceGetHandleByUUID, uuid)

    def _told(self, ask: Callable[..., Told], *given: Any) -> Told | None:
        """The answer; None for what this driver or card does not know."""
        try:
            return ask(*given)
        except self._library.NVMLError:
            return None


def program_name(pid: int, proc: Path = PROC) -> str:
    """The kernel's short name of a process, never its arguments; "" in a container, where the number is another's."""
    try:
        if str((proc / "self/ns/pid").readlink()) != FIRST_PID_NAMESPACE:
            return ""
        return (proc / str(pid) / "comm").read_text().strip()
    except OSError:
        return ""
