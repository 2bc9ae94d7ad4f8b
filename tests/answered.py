"""Answered runs in a moment: the procedure is told once a question, and its rows are written as a command's are."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from django.utils import timezone

from jobs.models import Profile, Run
from jobs.procedure.events import EventKind
from jobs.procedure.question import Question
from jobs.procedure.run import answer
from jobs.running.model_source import resolve_model
from jobs.services.keep import run_keep
from tests.browser import demo
from tests.browser.demo_worlds import DemoWorld


@dataclass(kw_only=True)
class Told:
    stages: dict[str, Any] = field(default_factory=dict)
    measurements: list[Mapping[str, Any]] = field(default_factory=list)
    loaded: Mapping[str, Any] = field(default_factory=dict)


def answered_run(name: str = "Nightly summaries", **changes: Any) -> int:
    """Done, on the demo's worker; `changes` are of the demo's question, and can be told apart."""
    question = demo.question(**changes)
    told = _told(question)
    run = run_keep(
        name=name,
        spec=resolve_model(question.model),
        question=question,
        record=demo.demo_record(),
        stages=told.stages,
        measurements=told.measurements,
        device=told.loaded["device"],
        environment=told.loaded["environment"],
        started_at=timezone.now(),
    )
    worker = demo.worker_row()
    Run.objects.filter(pk=run.pk).update(worker=worker)
    Profile.objects.filter(pk=run.profile_id).update(worker=worker)
    return int(run.pk)


@cache
def _told(question: Question) -> Told:
    told, read = Told(), demo.demo_record()
    for event in answer(question, read, DemoWorld(asked=question, record=read, truth=demo._truth)):
        match event.kind:
            case EventKind.LOADED:
                told.loaded = event.data
            case EventKind.MEASUREMENT:
                told.measurements.append(event.data)
            case EventKind.STAGE_FINISHED:
                told.stages[event.data["stage"]] = event.data["result"]
    return told
