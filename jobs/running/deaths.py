"""What the death of a measuring process says about the point it was measuring."""

import signal
from collections.abc import Mapping

from jobs.procedure.measurement import Ask, Measurement, Outcome
from jobs.running.process import ProcessDied, ProcessHung
from jobs.sizing.refusal import Refusal
from jobs.sizing.units import bytes_text


def was_killed(death: ProcessDied) -> bool:
    """By somebody else: its own faults end in other signals."""
    return death.signal_number in (signal.SIGKILL, signal.SIGTERM)


def died_loading(name: str, death: ProcessDied) -> Refusal:
    """The run cannot go on without its model."""
    if was_killed(death):
        return Refusal(
            "killed",
            f"The measuring process was killed from outside ({death.how}) while it loaded “{name}”: most likely by the "
            "system, short of memory.",
            "Free memory on the worker, or try a smaller precision or model.",
        )
    return Refusal(
        "load_failed",
        f"“{name}” does not load: {death}",
        "The machine may be short of memory: try a smaller precision or model.",
    )


def killed(ask: Ask, death: ProcessDied) -> Measurement:
    return _failed(
        ask,
        "killed",
        f"The measuring process was killed from outside ({death.how}): most likely by the system, short of memory.",
    )


def hung(ask: Ask, hang: ProcessHung) -> Measurement:
    return _failed(ask, "hung", str(hang))


def took_too_long(ask: Ask, most_s: float) -> Measurement:
    return _failed(
        ask, "point_time", f"The point was not measured within {most_s / 60:.0f} min and its process was ended."
    )


def crashed(ask: Ask, death: ProcessDied) -> Measurement:
    return _failed(ask, "crashed", f"The measuring process crashed ({death.how}).")


def refused(ask: Ask, error: Mapping[str, str]) -> Measurement:
    return _failed(ask, error["code"], error["message"])


def decided_by_peak(ask: Ask, death: ProcessDied, unlimited: Measurement) -> Measurement:
    """A crash under the limit, measured again without it: above the capacity it was a lack of memory."""
    if unlimited.outcome is Outcome.OUT_OF_MEMORY:
        peak = "" if unlimited.peak_bytes is None else f" The peak of {bytes_text(unlimited.peak_bytes)} is above it."
        message = (
            f"The measuring process crashed ({death.how}) under a capacity of {bytes_text(ask.capacity_bytes)}.{peak}"
        )
        return _with_outcome(unlimited, Outcome.OUT_OF_MEMORY, "out_of_memory", message)
    if unlimited.outcome is Outcome.OK:
        message = (
            f"The measuring process crashed ({death.how}) under a capacity that its peak of "
            f"{bytes_text(unlimited.peak_bytes or 0)} is within."
        )
        return _failed(ask, "crashed", message)
    return unlimited


def _failed(ask: Ask, code: str, message: str) -> Measurement:
    return Measurement(
        strategy=str(ask.strategy),
        context=ask.context_tokens,
        prompt=ask.prompt_tokens,
        answer=ask.answer_tokens,
        sequences=ask.sequences,
        stage=ask.stage,
        outcome=Outcome.FAILED,
        error={"code": code, "message": message},
    )


def _with_outcome(measurement: Measurement, outcome: Outcome, code: str, message: str) -> Measurement:
    return Measurement.from_json(
        measurement.as_json() | {"outcome": outcome, "error": {"code": code, "message": message}}
    )
