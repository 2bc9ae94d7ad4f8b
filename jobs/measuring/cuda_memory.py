"""Memory of one or several CUDA cards: torch's allocator, beside what the CUDA contexts take.

peak = the most that was allocated + the context. The limit is the allocator's: it is told the part of the card that
the capacity is, less the context, and raises torch.OutOfMemoryError when what it *reserves* would go beyond. Memory
that it holds and cannot give out in one piece (fragments) is therefore refused as on a card of that size, a little
before the peak that is shown reaches the capacity; reserved_bytes is shown beside it for that. PYTORCH_ALLOC_CONF
(expandable_segments:True) changes how much that is, and stands in the environment.

torch takes the part of get_device_properties().total_memory, which for a slice of MIG is the slice's.
"""

import gc
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import torch

from jobs.measuring.cache_bytes import used_bytes
from jobs.measuring.card_use import CardUse

WHOLE = 1.0
ALLOCATOR_SETTINGS = ("PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF")


class CudaMemory:
    """The three budgets over all cards together; figures of each card in `by_device`.

    The capacity is split evenly: each card may hold its share, and the one that is fullest decides.
    weights_bytes: of each card, by its name.
    """

    kind = "cuda"

    def __init__(self, cards: Sequence[CardUse], *, weights_bytes: Mapping[str, int] | None = None) -> None:
        self._cards = tuple(cards)
        self._weights_bytes = dict(weights_bytes or {})
        self._taint: str | None = None
        self._host_bytes = 0
        self._read: dict[str, dict[str, Any]] = {}
        self._kv_bytes: dict[str, int] = {}

    @property
    def context_bytes(self) -> int:
        return sum(card.context_bytes for card in self._cards)

    def begin(self) -> None:
        """A new point: what was read of the one before is forgotten."""
        self._taint = None
        self._host_bytes = 0
        self._read = {}
        self._kv_bytes = {}
        for card in self._cards:
            card.watch()

    def settle(self) -> None:
        """Give the driver back what is free. After an error of the driver's nothing more can be asked of it."""
        gc.collect()
        # A context that died of an assert or of a lost card refuses this too; the point's outcome tells of it, and the
        # process ends after its answer.
        with suppress(RuntimeError):
            self.synchronise()
            torch.cuda.empty_cache()
            _empty_host_cache()
        for card in self._cards:
            card.grow_context()

    def start(self) -> None:
        self.settle()
        _reset_host_peak()
        for card in self._cards:
            torch.cuda.reset_peak_memory_stats(card.torch_device)
            card.watch()

    def peak_bytes(self) -> int:
        """The most since `start`, weights and contexts included, of all cards together."""
        self._note()
        return sum(self._figures_of(card)["peak_bytes"] for card in self._cards)

    def host_bytes(self, cache_bytes: int) -> int:
        """CPU RAM of an offloading cache: its own tensors', or the pinned memory that torch took for them.

        torch rounds each pinned block up to a power of two, and copies a layer into a new block before the old one is
        free.
        """
        return max(cache_bytes, self._host_bytes if cache_bytes else 0)

    def note_cache(self, cache: Any) -> None:
        """After the last token: what of it is on each card."""
        for card in self._cards:
            self._kv_bytes[card.name] = used_bytes(cache, on=str(card.torch_device))

    def figures(self) -> dict[str, Any]:
        """What was read of the point's passes beside the peak; the most of them."""
        read = self._read.values()
        totals = {name: sum(one[name] for one in read) for name in ("reserved_bytes", "device_used_bytes") if read}
        kv = self._kv_bytes
        each = {name: one | ({"kv_bytes": kv[name]} if name in kv else {}) for name, one in self._read.items()}
        return totals | {"by_device": each}

    def tainted(self) -> str | None:
        """What else took memory of the cards while the point was measured."""
        self._note_others()
        return self._taint

    def is_sound(self) -> bool:
        """The allocator frees its cache and raises: it never goes on otherwise."""
        return True

    def synchronise(self) -> None:
        for card in self._cards:
            torch.cuda.synchronize(card.torch_device)

    @contextmanager
    def limited_to(self, capacity_bytes: int) -> Iterator[None]:
        share_bytes = capacity_bytes // len(self._cards)
        for card in self._cards:
            total_bytes = torch.cuda.get_device_properties(card.torch_device).total_memory
            part = min(WHOLE, max(0.0, (share_bytes - card.context_bytes) / total_bytes))
            torch.cuda.set_per_process_memory_fraction(part, card.torch_device)
        try:
            yield
        finally:
            for card in self._cards:
                torch.cuda.set_per_process_memory_fraction(WHOLE, card.torch_device)

    @contextmanager
    def kept_from_harm(self) -> Iterator[None]:
        """The driver itself refuses what the device has not."""
        yield

    def _note_others(self) -> None:
        for card in self._cards:
            card.note()
            self._taint = card.taken_by_others() or self._taint

    def _note(self) -> None:
        self._note_others()
        for card in self._cards:
            now = self._figures_of(card)
            before = self._read.get(card.name, {})
            self._read[card.name] = {name: max(value, before.get(name, 0)) for name, value in now.items()}
        self._host_bytes = max(self._host_bytes, _host_peak_bytes())

    def _figures_of(self, card: CardUse) -> dict[str, Any]:
        weights = {"weights_bytes": self._weights_bytes[card.name]} if card.name in self._weights_bytes else {}
        return weights | card.figures()


def _host_peak_bytes() -> int:
    """The most pinned memory that torch held since its counter was reset; 0 where this torch does not count it."""
    stats: dict[str, Any] = getattr(torch.cuda, "host_memory_stats", dict)()
    return int(stats.get("allocated_bytes.peak", 0))


def _reset_host_peak() -> None:
    getattr(torch.cuda, "reset_peak_host_memory_stats", lambda: None)()


def _empty_host_cache() -> None:
    """Pinned blocks that are free stay with torch else, and count for the next point."""
    with suppress(AttributeError):
        torch._C._host_emptyCache()
