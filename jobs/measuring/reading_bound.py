"""How much memory a model may take to be read: a config can ask for more objects than any machine holds."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager

from jobs.measuring.cpu_memory import status_bytes
from jobs.measuring.outcomes import is_out_of_memory
from jobs.sizing.refusal import Refusal
from jobs.sizing.units import GIB, bytes_text

MOST_BYTES = 2 * GIB
"""Beside what the process has: the largest known models take a tenth of it."""


@contextmanager
def bounded_reading(name: str, *, most_bytes: int = MOST_BYTES) -> Iterator[None]:
    """Inside, this process gets no more than so many bytes; raises Refusal("too_large") where a reading needs more."""
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (status_bytes("VmData") + most_bytes, hard))
    try:
        yield
    except MemoryError as error:
        raise _too_large(name, most_bytes) from error
    except Refusal as refusal:
        if refusal.__cause__ is not None and is_out_of_memory(refusal.__cause__):
            raise _too_large(name, most_bytes) from refusal
        raise
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (hard, hard))


def _too_large(name: str, most_bytes: int) -> Refusal:
    return Refusal(
        "too_large",
        f"“{name}” takes more than {bytes_text(most_bytes)} of memory to be read, before any weight is loaded.",
        "Check the sizes in its config: the largest models known take a tenth of that.",
    )
