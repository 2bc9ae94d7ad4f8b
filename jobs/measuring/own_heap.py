"""Work whose small blocks of memory stay out of the way of what is measured later."""

import ctypes
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # malloc.h
USUAL_TRIM_BYTES = 128 * 2**10
MOST_MMAP_BYTES = 32 * 2**20  # more is refused
Result = TypeVar("Result")


def in_own_heap(work: Callable[[], Result]) -> Result:
    """What `work` returns or raises. It runs in a thread of its own, for which malloc keeps a heap of its own.

    A tokenizer takes and frees small blocks by the thousands. Left in the main heap, their holes are filled with
    tensors, which then stay resident when they are freed: a pass of SmolLM2-135M read 4 to 7 MiB more afterwards.
    """
    with ThreadPoolExecutor(max_workers=1) as thread:
        return thread.submit(work).result()


@contextmanager
def tensors_in_the_heap() -> Iterator[None]:
    """For work that nobody measures, in a heap of its own: memory of tensors is used again, not given back each time.

    What a measured pass needs (jobs/running/environment.py) makes hqq, which takes many tensors of a few hundred KiB,
    three times slower.
    """
    usual_bytes = int(os.environ.get("MALLOC_MMAP_THRESHOLD_", USUAL_TRIM_BYTES))
    malloc = ctypes.CDLL(None)
    malloc.mallopt(M_MMAP_THRESHOLD, MOST_MMAP_BYTES)
    malloc.mallopt(M_TRIM_THRESHOLD, 8 * MOST_MMAP_BYTES)
    try:
        yield
    finally:
        malloc.mallopt(M_TRIM_THRESHOLD, USUAL_TRIM_BYTES)
        malloc.mallopt(M_MMAP_THRESHOLD, usual_bytes)
