"""One question over several models or devices."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db import transaction

from jobs.models import ModelEntry, Profile, Run, Worker, Workload
from jobs.procedure.question import Question
from jobs.services.run import run_submit
from jobs.sizing.refusal import Refusal

MOST_AT_ONCE = 12


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What becomes a profile and its first run."""

    name: str
    entry: ModelEntry
    question: Question
    worker: Worker


@transaction.atomic
def runs_submit(
    *,
    user: User | None,
    asked: Sequence[Asked],
    workload: Workload | None = None,
    cloned_from: Profile | None = None,
) -> list[Run]:
    """All of them or none. Raises Refusal: too_many_at_once, and what run_submit raises, naming which it is about."""
    if len(asked) > MOST_AT_ONCE:
        raise Refusal(
            "too_many_at_once", f"{len(asked)} runs are more than {MOST_AT_ONCE} at once.", "Leave some models out."
        )
    return [_submit(one, user=user, workload=workload, cloned_from=cloned_from) for one in asked]


def _submit(one: Asked, *, user: User | None, workload: Workload | None, cloned_from: Profile | None) -> Run:
    try:
        return run_submit(
            user=user,
            name=one.name,
            entry=one.entry,
            question=one.question,
            worker=one.worker,
            workload=workload,
            cloned_from=cloned_from,
        )
    except Refusal as refusal:
        where = f"{one.entry.name} on {one.worker.device_name}: "
        raise Refusal(refusal.code, where + refusal.message, refusal.hint) from refusal
