"""A run as the contract's JSON: what `profile --json` prints, the download has and REST answers."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Protocol


class RunFacts(Protocol):
    """What of a run is told; a row of the database has it."""

    @property
    def pk(self) -> int: ...
    @property
    def state(self) -> str: ...
    @property
    def error(self) -> Mapping[str, Any] | None: ...
    @property
    def environment(self) -> Mapping[str, Any]: ...
    @property
    def device(self) -> Mapping[str, Any]: ...
    @property
    def stages(self) -> Mapping[str, Any]: ...
    @property
    def question(self) -> Mapping[str, Any]: ...
    @property
    def queued_at(self) -> datetime: ...
    @property
    def started_at(self) -> datetime | None: ...
    @property
    def finished_at(self) -> datetime | None: ...


def run_json(run: RunFacts, measurements: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """At any moment of a run: `stages` as far as they got, `measurements` as they were made, those of a stage that is
    not over among them. Times are ISO 8601 with their zone, None where it has not come to that.
    """
    told = answer_json(
        run=run.pk,
        state=run.state,
        error=run.error,
        environment=run.environment,
        device=run.device,
        stages=run.stages,
    )
    times = {"queued_at": run.queued_at, "started_at": run.started_at, "finished_at": run.finished_at}
    return told | {
        "question": dict(run.question),
        "measurements": [dict(measurement) for measurement in measurements],
        **{name: time and time.isoformat() for name, time in times.items()},
    }


def answer_json(
    *,
    run: int | None,
    state: str,
    error: Mapping[str, Any] | None,
    environment: Mapping[str, Any],
    device: Mapping[str, Any],
    stages: Mapping[str, Any],
) -> dict[str, Any]:
    """The contract's own fields; run: None where the answer was not kept."""
    return {
        "run": run,
        "state": str(state),
        "error": error,
        "environment": dict(environment),
        "device": dict(device),
        "stages": dict(stages),
    }
