"""What an error means: only a lack of memory is out of memory."""

import pytest

from jobs.measuring.outcomes import failure_of
from jobs.procedure.measurement import Outcome
from jobs.sizing.strategy import Strategy
from jobs.sizing.units import MIB

QUANTO = Strategy.parse("quantized:quanto:4")
CPU_REFUSAL = (
    "[enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate memory: "
    "you tried to allocate 2359296 bytes. Error code 12 (Cannot allocate memory)"
)


def classified(error: Exception, *, limited: bool = True) -> tuple[Outcome, str, bool]:
    failure = failure_of(error, strategy=QUANTO, capacity_bytes=280 * MIB, limited=limited)
    return failure.outcome, failure.code, failure.restart


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (RuntimeError(CPU_REFUSAL), (Outcome.OUT_OF_MEMORY, "out_of_memory", False)),
        (MemoryError(), (Outcome.OUT_OF_MEMORY, "out_of_memory", False)),
        (RuntimeError("could not create a primitive"), (Outcome.OUT_OF_MEMORY, "out_of_memory", True)),
        (RuntimeError("could not execute a primitive"), (Outcome.OUT_OF_MEMORY, "out_of_memory", True)),
        (RuntimeError("CUDA error: out of memory"), (Outcome.OUT_OF_MEMORY, "out_of_memory", True)),
        (RuntimeError("CUDA error: device-side assert triggered"), (Outcome.FAILED, "device_assert", True)),
        (RuntimeError("CUDA error: an illegal memory access"), (Outcome.FAILED, "strategy_failed", True)),
        (ValueError("shift must be specified"), (Outcome.FAILED, "strategy_failed", False)),
        (AssertionError("Torch not compiled with CUDA enabled"), (Outcome.FAILED, "strategy_failed", False)),
        (IndexError("index out of range in self"), (Outcome.FAILED, "strategy_failed", False)),
    ],
)
def test_an_error_is_what_it_says(error: Exception, expected: tuple[Outcome, str, bool]) -> None:
    assert classified(error) == expected


OFFLOADED = Strategy.parse("offloaded")


@pytest.mark.parametrize(
    ("error", "strategy"),
    [
        (RuntimeError(CPU_REFUSAL), OFFLOADED),
        (RuntimeError(CPU_REFUSAL), QUANTO),
        (MemoryError(), QUANTO),
        (RuntimeError("std::bad_alloc"), OFFLOADED),
        (RuntimeError("CUDA error: out of memory\nCompile with `TORCH_USE_CUDA_DSA`"), OFFLOADED),
        (RuntimeError("cudaHostAlloc failed: out of memory"), QUANTO),
    ],
)
def test_on_a_gpu_a_lack_of_cpu_ram_is_told_from_the_gpus(error: Exception, strategy: Strategy) -> None:
    failure = failure_of(error, strategy=strategy, capacity_bytes=280 * MIB, limited=True, device="cuda")
    assert (failure.outcome, failure.code) == (Outcome.OUT_OF_MEMORY, "out_of_host_memory")
    assert "CPU RAM" in failure.message


@pytest.mark.parametrize(
    ("error", "strategy", "expected"),
    [
        (RuntimeError("CUDA error: out of memory"), QUANTO, (Outcome.OUT_OF_MEMORY, "out_of_memory")),
        (RuntimeError("CUBLAS_STATUS_ALLOC_FAILED"), OFFLOADED, (Outcome.OUT_OF_MEMORY, "out_of_memory")),
        (RuntimeError("Need to provide pin_memory allocator"), OFFLOADED, (Outcome.FAILED, "strategy_failed")),
        (RuntimeError("CUDA error: device-side assert"), OFFLOADED, (Outcome.FAILED, "device_assert")),
    ],
)
def test_on_a_gpu_everything_else_is_what_it_was(
    error: Exception, strategy: Strategy, expected: tuple[Outcome, str]
) -> None:
    failure = failure_of(error, strategy=strategy, capacity_bytes=280 * MIB, limited=True, device="cuda")
    assert (failure.outcome, failure.code) == expected


def test_torchs_own_refusal_is_out_of_memory() -> None:
    import torch

    error = torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.50 GiB. GPU 0 …")
    failure = failure_of(error, strategy=QUANTO, capacity_bytes=280 * MIB, limited=True)
    assert (failure.outcome, failure.restart) == (Outcome.OUT_OF_MEMORY, False)
    assert "2.50 GiB" in failure.message
    offloading = failure_of(error, strategy=OFFLOADED, capacity_bytes=280 * MIB, limited=True, device="cuda")
    assert offloading.code == "out_of_memory"


def test_a_refused_primitive_without_a_limit_is_no_lack_of_memory() -> None:
    assert classified(RuntimeError("could not create a primitive"), limited=False) == (
        Outcome.FAILED,
        "poisoned",
        True,
    )


def test_a_refusal_says_how_much_and_under_what() -> None:
    failure = failure_of(RuntimeError(CPU_REFUSAL), strategy=QUANTO, capacity_bytes=280 * MIB, limited=True)
    assert "2.25 MiB" in failure.message
    assert "280 MiB" in failure.message


def test_a_strategys_failure_names_it_and_says_its_first_line() -> None:
    error = ValueError("\nshift must be specified\nat line 3")
    failure = failure_of(error, strategy=QUANTO, capacity_bytes=1, limited=True)
    assert failure.message == "The quantized 4 bits (quanto) failed here: shift must be specified"
