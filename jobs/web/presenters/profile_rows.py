"""Profiles as rows of a list, each with its latest answer."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from jobs.models import Profile, Run, RunState
from jobs.sizing.strategy import strategy_label
from jobs.web.formats import size
from jobs.web.presenters.freshness import FreshnessMark, freshness_mark
from jobs.web.presenters.limits import LIMITED_BY
from jobs.web.presenters.questions import workload_summary


@dataclass(frozen=True, kw_only=True)
class ProfileRow:
    """context, strategy, fits, limited_by and tokens_per_s are of the answer; state and run_pk of a latest run that is
    not done, else empty. adopted: the context that the team adopted."""

    pk: int
    name: str
    model: str
    workload: str
    answered: bool
    context: int | None
    strategy: str
    fits: bool
    limited_by: str
    tokens_per_s: float | None
    device: str
    capacity: str
    mark: FreshnessMark | None
    adopted: int | None
    adopted_strategy: str
    tags: tuple[str, ...]
    owner: str
    archived: bool
    state: str
    run_pk: int | None
    at: datetime


def profile_rows(profiles: Iterable[Profile]) -> list[ProfileRow]:
    """Of profiles as the selector lists them: without a query."""
    return [_row(profile) for profile in profiles]


def _row(profile: Any) -> ProfileRow:
    latest, answer, adoption = profile.latest_run, profile.answer_run, profile.adoption
    unended = latest is not None and latest.state != RunState.DONE
    return ProfileRow(
        pk=profile.pk,
        name=profile.name,
        model=profile.model_entry.name,
        workload=workload_summary(profile.question),
        answered=answer is not None,
        context=answer.limit_context if answer else None,
        strategy=strategy_label(answer.limit_strategy) if answer and answer.limit_strategy else "",
        fits=bool(answer and answer.fits),
        limited_by=LIMITED_BY.get(answer.limited_by, "") if answer else "",
        tokens_per_s=answer.tokens_per_s if answer else None,
        device=profile.device_shown or str(profile.question["device"]),
        capacity=_capacity(profile),
        mark=freshness_mark(profile),
        adopted=adoption.context if adoption else None,
        adopted_strategy=strategy_label(adoption.strategy) if adoption else "",
        tags=tuple(tag.name for tag in profile.tags.all()),
        owner=profile.owner.username if profile.owner else "",
        archived=profile.archived_at is not None,
        state=latest.state if unended else "",
        run_pk=latest.pk if unended else None,
        at=profile.at,
    )


def device_name(run: Run | None, profile: Profile) -> str:
    """As the run found it, else as its worker says."""
    if run and run.device.get("name"):
        return str(run.device["name"])
    worker = (run.worker if run else None) or profile.worker
    return worker.device_name if worker else str(profile.question["device"])


def _capacity(profile: Profile) -> str:
    """What was asked for, else all of the device as the answer found it."""
    asked = profile.question.get("capacity_bytes")
    found = profile.answer_run.device.get("capacity_bytes") if profile.answer_run else None
    whole = found or (profile.worker.capacity_bytes if profile.worker else None)
    return size(asked) if asked else size(whole) if whole else "all of it"
