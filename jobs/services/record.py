"""Keeps what a run tells, as long as the teller holds the run's lease."""

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from jobs.models import Measurement, Run
from jobs.procedure.events import Event, EventKind
from jobs.services.answer import answer_columns
from jobs.services.presentable import presentable
from jobs.services.run_state import HELD, event_append

LIMIT_STAGE = "limit"


class LeaseLost(Exception):
    """The run was taken away: nothing more may be written, and the measuring must stop."""


def held_by(lease: str) -> Q:
    return HELD & Q(lease=lease) & ~Q(lease="")


@transaction.atomic
def event_record(*, run_id: int, lease: str, event: Event) -> int:
    """Keep one event and what follows from it; returns its number. Raises LeaseLost."""
    seq = event_append(run_id=run_id, when=held_by(lease), kind=event.kind, data=event.data, seen_at=timezone.now())
    if seq is None:
        raise LeaseLost(f"run {run_id}")
    if event.kind is EventKind.MEASUREMENT:
        measurement_keep(run_id=run_id, data=event.data)
    elif event.kind is EventKind.STAGE_FINISHED:
        _stage_keep(run_id, str(event.data["stage"]), event.data["result"])
    elif event.kind is EventKind.LOADED:
        about = {name: presentable(event.data[name]) for name in ("device", "environment") if name in event.data}
        about |= {"config_hash": event.data.get("config_hash", "")}
        Run.objects.filter(pk=run_id).update(**about)
    return seq


def measurement_keep(*, run_id: int, data: Mapping[str, Any]) -> None:
    """A point is measured once a run, whichever stage asked first; told again, it replaces what was kept."""
    Measurement.objects.update_or_create(
        run_id=run_id,
        strategy=data["strategy"],
        context=data["context"],
        defaults={"stage": data["stage"], "outcome": data["outcome"], "data": presentable(data)},
    )


def _stage_keep(run_id: int, stage: str, result: Any) -> None:
    run = Run.objects.only("stages").get(pk=run_id)
    kept = presentable(result)
    columns = answer_columns(kept) if stage == LIMIT_STAGE else {}
    Run.objects.filter(pk=run_id).update(stages=run.stages | {stage: kept}, **columns)
