"""Why a point is measured in another process than the one before it, and whether that one's environment is the same."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from jobs.procedure.measurement import Measurement
from jobs.sizing.units import bytes_text

# A measurement after which the process ends by itself: by the code of its error.
SPENT = {
    "out_of_memory": "memory was refused at the point before, which left that process unusable",
    "out_of_host_memory": "CPU RAM was refused at the point before, which left that process unusable",
    "device_assert": "the device had stopped on an assertion at the point before",
    "poisoned": "a kernel could not be made at the point before",
}
OTHERWISE_SPENT = "an error at the point before had left that process unusable"


@dataclass(frozen=True, kw_only=True)
class _Loss:
    """leaked_bytes: what the lost process still held, where that was the reason."""

    why: str | None = None
    leaked_bytes: int | None = None


_NOT_LOST = _Loss()


class FreshProcess:
    """Remembers why the last process was lost, until a point has been measured in the next."""

    def __init__(self) -> None:
        self._lost = self._told = _NOT_LOST
        self._first_environment: Mapping[str, Any] | None = None
        self._drift: str | None = None

    def because(self, why: str, *, leaked_bytes: int | None = None) -> None:
        """The process is lost, or is about to be."""
        self._lost = _Loss(why=why, leaked_bytes=leaked_bytes)

    def because_of(self, measurement: Measurement) -> None:
        self.because(SPENT.get((measurement.error or {}).get("code", ""), OTHERWISE_SPENT))

    def leaked(self, leaked_bytes: int) -> None:
        self.because(f"{bytes_text(leaked_bytes)} were still held after the points before", leaked_bytes=leaked_bytes)

    def loaded(self, environment: Mapping[str, Any]) -> None:
        """The environment that a process told when it had loaded the model."""
        if self._first_environment is None:
            self._first_environment = dict(environment)
        elif self._lost is _NOT_LOST:
            self._lost = _Loss(why="the process before it had ended")
        self._told, self._lost = self._lost, _NOT_LOST
        self._drift = difference(self._first_environment, environment)

    def noted_on(self, measurement: Measurement) -> Measurement:
        """The measurement with why its process is a fresh one, said once; and with every taint."""
        loss, self._told = self._told, _NOT_LOST
        taints = [taint for taint in (measurement.tainted, self._drift) if taint]
        return replace(
            measurement,
            fresh_process=loss.why,
            leaked_bytes=measurement.leaked_bytes if loss.leaked_bytes is None else loss.leaked_bytes,
            tainted=" ".join(taints) or None,
        )


def difference(first: Mapping[str, Any], now: Mapping[str, Any]) -> str | None:
    """“The environment changed during the run: threads 2, now 1.”; None where nothing did."""
    changed = [
        f"{name.replace('_', ' ')} {first.get(name)}, now {now.get(name)}"
        for name in sorted({*first, *now})
        if first.get(name) != now.get(name)
    ]
    return f"The environment changed during the run: {'; '.join(changed)}." if changed else None
