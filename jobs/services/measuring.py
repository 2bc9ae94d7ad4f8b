"""Starts measuring processes with the Python that this worker was given: whose transformers is measured."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.conf import settings

from jobs.running.process import MeasuringProcess, ProcessDied, ProcessHung
from jobs.sizing.refusal import Refusal


def measuring_start(**how: Any) -> MeasuringProcess:
    return MeasuringProcess(python=settings.MEASURING_PYTHON, **how)


@contextmanager
def measuring_process(*, cancelled: Callable[[], bool] = lambda: False) -> Iterator[MeasuringProcess]:
    """One for a single use; what it dies of becomes a Refusal."""
    try:
        with measuring_start(cancelled=cancelled) as process:
            yield process
    except (ProcessDied, ProcessHung) as end:
        raise measuring_refusal(end) from end


def measuring_refusal(end: ProcessDied | ProcessHung) -> Refusal:
    hint = "See the worker's log; the machine may be short of memory, or MEASURING_PYTHON lacks a library."
    return Refusal("measuring_died", str(end), hint)
