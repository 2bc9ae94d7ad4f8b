"""Keeps a run that was answered in the foreground, by a command, without a worker."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from jobs.models import EntryState, Event, ModelEntry, Profile, Run, RunState, Worker
from jobs.models.worker import worker_name
from jobs.procedure.events import EventKind
from jobs.procedure.question import Question
from jobs.services.answer import answer_columns
from jobs.services.ending import run_ended
from jobs.services.inspection import record_keep
from jobs.services.presentable import presentable
from jobs.services.record import measurement_keep
from jobs.sizing.model_spec import ModelSpec
from jobs.sizing.record import InspectionRecord


@transaction.atomic
def run_keep(
    *,
    name: str,
    spec: ModelSpec,
    question: Question,
    record: InspectionRecord | None,
    stages: Mapping[str, Any],
    measurements: Iterable[Mapping[str, Any]],
    device: Mapping[str, Any],
    environment: Mapping[str, Any],
    started_at: datetime,
) -> Run:
    """A profile of that name with one run, done: as if this machine's worker for the device had answered it, whose the
    profile is from now on, where there is one."""
    entry, _ = ModelEntry.objects.get_or_create(
        kind=str(spec.kind), name=spec.name, revision=spec.revision or "", defaults={"spec": spec.as_json()}
    )
    if record is not None and (entry.record is None or entry.state != EntryState.READY):
        record_keep(entry=entry, record=record)
    worker = Worker.objects.filter(name=worker_name(question.device)).first()
    profile = Profile.objects.create(name=name, model_entry=entry, question=question.as_json(), worker=worker)
    kept = presentable(stages)
    run = Run.objects.create(
        profile=profile,
        model_entry=entry,
        question=question.as_json(),
        state=RunState.DONE,
        attempts=1,
        started_at=started_at,
        finished_at=timezone.now(),
        device=presentable(device),
        environment=presentable(environment),
        config_hash=record.config_hash if record else "",
        stages=kept,
        **(answer_columns(kept["limit"]) if kept.get("limit") else {}),
    )
    Profile.objects.filter(pk=profile.pk).update(latest_run=run)
    told = [
        *((EventKind.STAGE_FINISHED, {"stage": stage, "result": result}) for stage, result in stages.items()),
        (EventKind.STATE, {"state": str(RunState.DONE), "message": "Answered by a command."}),
    ]
    for seq, (kind, data) in enumerate(told, start=1):
        Event.objects.create(run=run, seq=seq, kind=str(kind), data=presentable(data))
    Run.objects.filter(pk=run.pk).update(last_seq=len(told), queued_at=started_at)
    for measurement in measurements:
        measurement_keep(run_id=run.pk, data=measurement)
    run_ended(run_id=run.pk)
    run.refresh_from_db()
    return run
