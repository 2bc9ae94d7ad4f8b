"""Profiles as rows of a list, each with its latest answer."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from jobs.models import Profile, Run
from jobs.web.formats import elapsed_s, size
from jobs.web.presenters.limits import limit_in_short
from jobs.web.presenters.questions import workload_summary


@dataclass(frozen=True, kw_only=True)
class ProfileRow:
    """state and run_pk are of the latest run; limit of the latest answered one."""

    pk: int
    name: str
    model: str
    workload: str
    limit: dict[str, Any] | None
    device: str
    capacity: str
    state: str
    run_pk: int | None
    at: datetime


@dataclass(frozen=True, kw_only=True)
class RunRow:
    pk: int
    state: str
    limit: dict[str, Any] | None
    by: str
    elapsed_s: float | None
    at: datetime


def profile_rows(profiles: Iterable[Profile]) -> list[ProfileRow]:
    """Each needs `latest_runs`, the newest first, as the selector prefetches them."""
    return [_row(profile) for profile in profiles]


def _row(profile: Profile) -> ProfileRow:
    runs = cast("list[Run]", vars(profile)["latest_runs"])  # as the selector prefetched them
    latest, answered = next(iter(runs), None), latest_answered(runs)
    return ProfileRow(
        pk=profile.pk,
        name=profile.name,
        model=profile.model_entry.name,
        workload=workload_summary(profile.question),
        limit=limit_in_short(answered.stages) if answered else None,
        device=device_name(answered or latest, profile),
        capacity=_capacity(profile, answered),
        state=latest.state if latest else "",
        run_pk=latest.pk if latest else None,
        at=(latest.finished_at or latest.queued_at) if latest else profile.created_at,
    )


def run_rows(runs: Iterable[Run]) -> list[RunRow]:
    """A profile's runs in time."""
    return [
        RunRow(
            pk=run.pk,
            state=run.state,
            limit=limit_in_short(run.stages),
            by=str(run.submitted_by or ""),
            elapsed_s=elapsed_s(run.started_at, run.finished_at),
            at=run.finished_at or run.queued_at,
        )
        for run in runs
    ]


def latest_answered(runs: Iterable[Run]) -> Run | None:
    return next((run for run in runs if run.stages.get("limit")), None)


def device_name(run: Run | None, profile: Profile) -> str:
    """As the run found it, else as its worker says."""
    if run and run.device.get("name"):
        return str(run.device["name"])
    worker = (run.worker if run else None) or profile.worker
    return worker.device_name if worker else str(profile.question["device"])


def _capacity(profile: Profile, answered: Run | None) -> str:
    asked = profile.question.get("capacity_bytes")
    if not asked and answered:
        asked = (answered.stages.get("budgets") or {}).get("capacity_bytes")
    return size(asked) if asked else "all of it"
