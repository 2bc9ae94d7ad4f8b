"""What is held beyond the loaded model is counted, whatever holds it."""

import gc
import mmap
from collections.abc import Iterator

import pytest
import torch

from jobs.measuring.held import RESIDENT_BYTES, TENSORS_BYTES, Held, release
from jobs.sizing.units import MIB


@pytest.fixture
def held() -> Iterator[Held]:
    yield Held(resident=True)
    release()


def resident(size_bytes: int) -> mmap.mmap:
    """Pages of their own, written to: the process's heap may hold free ones already."""
    pages = mmap.mmap(-1, size_bytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    pages.write(b"\1" * size_bytes)
    return pages


def test_nothing_is_held_at_first(held: Held) -> None:
    assert held.is_clean()
    assert held.leaked_bytes() <= MIB


def test_a_tensor_is_counted_by_its_storage_once_and_until_it_is_dropped(held: Held) -> None:
    kept = torch.empty(TENSORS_BYTES + MIB, dtype=torch.uint8)  # never touched, so not resident
    views = kept[:10], kept[10:]
    assert held.leaked_bytes() == TENSORS_BYTES + MIB
    assert not held.is_clean()
    del kept, views
    gc.collect()
    assert held.is_clean()


def test_what_is_no_tensor_is_seen_in_the_process(held: Held) -> None:
    kept = resident(RESIDENT_BYTES + 2 * MIB)
    assert held.leaked_bytes() >= RESIDENT_BYTES
    assert not held.is_clean()
    del kept


def test_with_a_gpu_only_tensors_count() -> None:
    held = Held(resident=False)
    kept = resident(RESIDENT_BYTES + 2 * MIB)
    assert held.is_clean()
    release()
    del kept


def test_a_first_use_explains_what_stays_resident_but_no_tensor(held: Held) -> None:
    with held.first_use():
        kept = resident(RESIDENT_BYTES + 2 * MIB)
    assert held.is_clean()
    with held.first_use():
        tensor = torch.empty(TENSORS_BYTES + MIB, dtype=torch.uint8)
    assert not held.is_clean()
    del kept, tensor
