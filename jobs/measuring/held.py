"""What the process still holds beside the loaded model: a point must find what the first one found."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

import torch

from jobs.measuring.cpu_memory import status_bytes
from jobs.sizing.units import MIB

TENSORS_BYTES = 2 * MIB
# Besides tensors: over 30 points of ten strategies the heap itself grew by 5 MiB, which no figure of a point contains.
RESIDENT_BYTES = 16 * MIB


class StillHeld(Exception):
    """More is held than after loading: a point measured now would not be comparable."""

    def __init__(self, leaked_bytes: int) -> None:
        super().__init__(leaked_bytes)
        self.leaked_bytes = leaked_bytes


class Held:
    """Counts from its making on, when the model has just been loaded.

    Two readings, either of which tells: the storages of tensors made since, exact on every device; and the resident
    anonymous memory of the process, which sees what is no tensor. What a first use leaves for good (oneDNN keeps up to
    3 MiB for each new shape, a strategy's package is imported) is explained by `first_use` and is no leak.

    resident: whether the second reading counts; with CUDA the driver keeps memory of its own as it goes.
    """

    def __init__(self, *, resident: bool) -> None:
        self._counts_resident = resident
        gc.collect()
        # What is there by now stays: looking through it again took 0.3 s before every point.
        gc.freeze()
        self._resident_bytes = status_bytes("RssAnon")

    @contextmanager
    def first_use(self) -> Iterator[None]:
        """Around what runs for the first time; only what is resident is explained by it, never a tensor."""
        before = status_bytes("RssAnon")
        yield
        self._resident_bytes += max(0, status_bytes("RssAnon") - before)

    def leaked_bytes(self) -> int:
        """Held now beyond what was held after loading; call it when the memory is settled."""
        return max(self._tensor_bytes(), self._resident_growth_bytes())

    def is_clean(self) -> bool:
        return self._tensor_bytes() <= TENSORS_BYTES and self._resident_growth_bytes() <= RESIDENT_BYTES

    def _resident_growth_bytes(self) -> int:
        return max(0, status_bytes("RssAnon") - self._resident_bytes) if self._counts_resident else 0

    def _tensor_bytes(self) -> int:
        storages = {}
        for tensor in _young_tensors():
            storage = tensor.untyped_storage()
            storages[tensor.device, storage.data_ptr()] = storage.nbytes()
        return sum(storages.values())


def release() -> None:
    """Before another model is loaded: what was there with this one may go."""
    gc.unfreeze()
    gc.collect()


def _young_tensors() -> Iterator[torch.Tensor]:
    """Those made since `gc.freeze`. A wrapper has no storage of its own: its parts are found by themselves."""
    for found in gc.get_objects():
        is_whole = issubclass(type(found), torch.Tensor) and not hasattr(found, "__tensor_flatten__")
        if is_whole and found.device.type != "meta":
            yield found
