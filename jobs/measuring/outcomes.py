"""What an error of a run means: out of memory is a measurement, everything else is the strategy's failure."""

import re
from dataclasses import dataclass

import torch

from jobs.procedure.measurement import Outcome
from jobs.sizing.strategy import Strategy
from jobs.sizing.units import bytes_text

DRIVER_REFUSAL = "CUDA error: out of memory"
REFUSED_ALLOCATION = (
    "can't allocate memory",
    "not enough memory",
    "CUDA out of memory",
    DRIVER_REFUSAL,
    "CUBLAS_STATUS_ALLOC_FAILED",
)
# Under a limit these are refused memory too, and the process cannot be used again: oneDNN remembers the refusal.
REFUSED_PRIMITIVE = (
    "could not create a primitive",
    "could not execute a primitive",
    "could not create a memory",
    "std::bad_alloc",
)
# On a GPU these are refusals of the CPU's memory: of pageable memory, and of the pinned memory that offloading takes.
HOST_ALLOCATION = ("DefaultCPUAllocator", "std::bad_alloc")
PINNED_ALLOCATION = ("cudaHostAlloc", "cudaHostRegister", "cudaMallocHost", "pin_memory", "pinned memory")
DEVICE_ASSERT = ("device-side assert",)
# Any error of the driver's leaves the CUDA context of the process unusable.
BROKEN_CONTEXT = ("CUDA error", "CUBLAS_STATUS", "device-side assert")
REFUSED_BYTES = re.compile(r"tried to allocate ([\d.]+) ?(bytes|KiB|MiB|GiB)?", re.IGNORECASE)
UNIT_BYTES = {"bytes": 1, "kib": 2**10, "mib": 2**20, "gib": 2**30}


@dataclass(frozen=True, kw_only=True)
class Failure:
    """Plain data: an exception kept would keep the tensors of its frames."""

    outcome: Outcome
    code: str
    message: str
    restart: bool = False

    @property
    def error(self) -> dict[str, str]:
        return {"code": self.code, "message": self.message}


def failure_of(
    error: Exception, *, strategy: Strategy, capacity_bytes: int, limited: bool, device: str = "cpu"
) -> Failure:
    """Classify what generate() raised, in a pass held to the capacity (`limited`) or not, on a kind of device."""
    text = str(error)
    poisoned = _says(text, REFUSED_PRIMITIVE)
    if _says(text, DEVICE_ASSERT):
        return Failure(
            outcome=Outcome.FAILED,
            code="device_assert",
            message="The device stopped on an assertion of its own (an index out of range): not a lack of memory.",
            restart=True,
        )
    if device != "cpu" and _is_out_of_host_memory(error, strategy):
        return Failure(
            outcome=Outcome.OUT_OF_MEMORY,
            code="out_of_host_memory",
            message=f"Out of CPU RAM{_refused(text)}; the GPU's memory was not what ran out.",
            restart=poisoned or _says(text, BROKEN_CONTEXT),
        )
    if is_out_of_memory(error) or (poisoned and limited):
        return Failure(
            outcome=Outcome.OUT_OF_MEMORY,
            code="out_of_memory",
            message=f"Out of memory{_refused(text)} within a capacity of {bytes_text(capacity_bytes)}.",
            restart=poisoned or _says(text, BROKEN_CONTEXT),
        )
    return Failure(
        outcome=Outcome.FAILED,
        code="poisoned" if poisoned else "strategy_failed",
        message=f"The {strategy.label} failed here: {_plain(text) or type(error).__name__}",
        restart=poisoned or _says(text, BROKEN_CONTEXT),
    )


def is_out_of_memory(error: BaseException) -> bool:
    """Whether memory was refused, on whatever device."""
    if isinstance(error, (MemoryError, torch.OutOfMemoryError)):
        return True
    text = str(error)
    return isinstance(error, RuntimeError) and _says(text, REFUSED_ALLOCATION)


def _is_out_of_host_memory(error: Exception, strategy: Strategy) -> bool:
    """Whether it was the CPU's memory that a run on a GPU lacked.

    The driver refuses pinned memory in the words by which it refuses its own; the allocator of a GPU has words of its
    own, so with a strategy that pins memory the driver's are taken for that.
    """
    text = str(error)
    if isinstance(error, torch.OutOfMemoryError):
        return False
    if isinstance(error, MemoryError) or _says(text, HOST_ALLOCATION):
        return True
    refused = _says(text, (*REFUSED_ALLOCATION, "out of memory"))
    return refused and (_says(text, PINNED_ALLOCATION) or (strategy.is_offloaded and DRIVER_REFUSAL in text))


def weights_do_not_fit(*, weights_bytes: int, capacity_bytes: int) -> Failure:
    return Failure(
        outcome=Outcome.OUT_OF_MEMORY,
        code="out_of_memory",
        message=f"The weights alone take {bytes_text(weights_bytes)}, more than the capacity of "
        f"{bytes_text(capacity_bytes)}.",
    )


def fell_back(*, capacity_bytes: int) -> Failure:
    """torch had an allocation refused in oneDNN, turned oneDNN off for the whole process, and went on slowly."""
    return Failure(
        outcome=Outcome.OUT_OF_MEMORY,
        code="out_of_memory",
        message="Out of memory: a kernel's scratch memory was refused within a capacity of "
        f"{bytes_text(capacity_bytes)}.",
        restart=True,
    )


def peak_above_capacity(*, peak_bytes: int, capacity_bytes: int) -> Failure:
    """Nothing was refused, but the peak that was read does not fit: the limit lets a little pass."""
    return Failure(
        outcome=Outcome.OUT_OF_MEMORY,
        code="out_of_memory",
        message=f"The peak of {bytes_text(peak_bytes)} is above the capacity of {bytes_text(capacity_bytes)}.",
    )


def _says(text: str, signs: tuple[str, ...]) -> bool:
    return any(sign in text for sign in signs)


def _refused(text: str) -> str:
    found = REFUSED_BYTES.search(text)
    if not found:
        return ""
    size = float(found[1]) * UNIT_BYTES[(found[2] or "bytes").lower()]
    return f": {bytes_text(int(size))} more were refused"


def _plain(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "")[:300]
