"""What a library says of a token or a proxy is kept of a run without them: in no row, no event, no log line."""

import logging
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from jobs.models import Run, RunState
from jobs.procedure.events import Event
from jobs.procedure.measurement import Bench
from jobs.procedure.question import Question
from jobs.running.bench import ProcessBench
from jobs.running.process import MeasuringProcess
from jobs.services.claim import run_claim
from jobs.services.execute import Tools, run_execute
from jobs.sizing.record import InspectionRecord
from tests.factories import make_record, make_run, make_worker
from tests.running.conftest import FAKE
from tests.running.test_secrets import GIVEN, leaked
from tests.services.test_execute import tools

pytestmark = pytest.mark.django_db


def loading(question: Question, record: InspectionRecord, bench: Bench) -> Iterator[Event]:
    bench.load()
    yield from ()


def bench(**how: Any) -> ProcessBench:
    return ProcessBench(**how | {"start": partial(MeasuringProcess, module=FAKE, environment=GIVEN)})


def test_a_run_that_fails_quoting_secrets_keeps_none(caplog: pytest.LogCaptureFixture) -> None:
    worker = make_worker()
    run = make_run(worker)
    Run.objects.filter(pk=run.pk).update(question=run.question | {"weights": "quote"})
    claim = run_claim(worker=worker)
    assert claim is not None
    given: Tools = tools(loading, bench=None, inspect=lambda spec, **_: make_record(model=spec.name))
    with caplog.at_level(logging.DEBUG):
        run_execute(claim=claim, tools=Tools(**vars(given) | {"bench": bench}))
    ended = Run.objects.get(pk=run.pk)
    kept = [str(ended.error), str(ended.stages), str(ended.environment), caplog.text]
    kept += [str(event.data) for event in ended.events.all()]
    assert [leaked(text) for text in kept] == [[]] * len(kept)
    assert ended.state == RunState.FAILED
    assert "http://…@proxy.example" in str(ended.error)
    assert any("… alone" in text for text in kept), "what it told meanwhile is kept, without them"
