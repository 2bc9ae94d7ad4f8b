import contextlib
import logging
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from django.db import OperationalError

from jobs.models import Measurement as Row
from jobs.models import Run, RunState
from jobs.procedure.events import Event, EventKind
from jobs.procedure.measurement import Bench, Cancelled, Loaded
from jobs.procedure.question import Question
from jobs.running.process import ProcessDied
from jobs.services.claim import Claim, run_claim, runs_give_back
from jobs.services.execute import Tools, run_execute
from jobs.services.run import run_cancel
from jobs.sizing.record import InspectionRecord
from jobs.sizing.refusal import Refusal
from tests.factories import VERSIONS, make_entry, make_measurement, make_profile, make_record, make_run, make_worker

pytestmark = pytest.mark.django_db
Answer = Callable[[Question, InspectionRecord, Bench], Iterator[Event]]


class FakeBench:
    """Counts what it is asked; gives `versions` for its environment's."""

    versions = VERSIONS
    asked: list[int]

    def __init__(self) -> None:
        self.asked = []

    def load(self) -> Loaded:
        return Loaded(
            weights_bytes=2000,
            parameters=1000,
            load_s=0.1,
            random_weights=True,
            device={"kind": "cpu"},
            environment=self.versions,
        )

    def measure(self, ask: Any) -> Any:
        self.asked.append(ask.context_tokens)
        return make_measurement(context=ask.context_tokens)


class FakeAsk:
    def __init__(self, context_tokens: int) -> None:
        self.strategy = "default"
        self.context_tokens = context_tokens


def points(*contexts: int, then: Callable[[], object] = lambda: None) -> Answer:
    """A procedure of one stage that measures at `contexts`."""

    def answer(question: Question, record: InspectionRecord, bench: Bench) -> Iterator[Event]:
        yield Event(kind=EventKind.STAGE_STARTED, data={"stage": "baseline"})
        loaded = bench.load()
        yield Event(kind=EventKind.LOADED, data={"device": loaded.device, "environment": loaded.environment})
        for context in contexts:
            yield Event(kind=EventKind.MEASURING, data={"strategy": "default", "context": context})
            measurement = bench.measure(FakeAsk(context))
            yield Event(kind=EventKind.MEASUREMENT, data=measurement.as_json())
        then()
        yield Event(kind=EventKind.STAGE_FINISHED, data={"stage": "baseline", "result": {"contexts": contexts}})

    return answer


def tools(answer: Answer, bench: FakeBench | None = None, **fields: Any) -> Tools:
    given: dict[str, Any] = {
        "answer": answer,
        "bench": lambda **_: contextlib.nullcontext(bench or FakeBench()),
        "inspect": lambda spec, **_: make_record(model=spec.name),
        "process": lambda **_: contextlib.nullcontext(),
    }
    return Tools(**(given | fields))


def raising(error: BaseException) -> Callable[[], object]:
    def then() -> object:
        raise error

    return then


@pytest.fixture
def claim() -> Claim:
    worker = make_worker()
    make_run(worker)
    claim = run_claim(worker=worker)
    assert claim is not None
    return claim


def ended(claim: Claim) -> Run:
    return Run.objects.get(pk=claim.run_id)


def kinds(run: Run) -> list[str]:
    return list(run.events.values_list("kind", flat=True))


def test_a_run_is_answered_and_done(claim: Claim) -> None:
    assert run_execute(claim=claim, tools=tools(points(160, 320)))
    run = ended(claim)
    assert (run.state, run.error, run.lease) == (RunState.DONE, None, "")
    assert run.finished_at is not None and run.finished_at >= run.started_at
    assert run.stages == {"baseline": {"contexts": [160, 320]}}
    assert [row.context for row in run.measurements.all()] == [160, 320]
    assert kinds(run)[1:4] == ["stage_started", "loaded", "measuring"] and kinds(run)[-1] == "state"
    assert list(run.events.values_list("seq", flat=True)) == list(range(1, run.last_seq + 1))


def test_a_refusal_ends_in_failed_with_what_to_do(claim: Claim) -> None:
    refusal = Refusal("gated", "The model in /srv/models/x is gated.", "Ask in /home/me/there for access.")
    run_execute(claim=claim, tools=tools(points(160, then=raising(refusal))))
    run = ended(claim)
    assert run.state == RunState.FAILED
    assert run.error == {"code": "gated", "message": "The model in …/x is gated.", "hint": "Ask in …/there for access."}
    assert run.measurements.count() == 1


@pytest.mark.parametrize(
    "error", [ZeroDivisionError("/etc/secret"), KeyError("x"), ProcessDied(returncode=-9, last_words="")]
)
def test_what_was_not_foreseen_ends_in_failed_and_its_trace_in_the_log(
    claim: Claim, error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    run_execute(claim=claim, tools=tools(points(160, then=raising(error))))
    run = ended(claim)
    assert run.state == RunState.FAILED and run.error["code"] == "internal" and run.error["hint"]
    assert "secret" not in str(run.error) and type(error).__name__ in caplog.text


def test_a_cancelled_run_ends_as_that(claim: Claim) -> None:
    run_execute(claim=claim, tools=tools(points(160, then=raising(Cancelled()))))
    assert ended(claim).state == RunState.CANCELLED


def test_a_cancel_between_two_events_is_heard(claim: Claim, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jobs.services.watch.LOOK_EVERY_S", 0.0)
    bench = FakeBench()
    cancelling = points(160, then=lambda: run_cancel(run=ended(claim), user=None))
    run_execute(claim=claim, tools=tools(cancelling, bench))
    assert ended(claim).state == RunState.CANCELLED


def test_whoever_loses_the_lease_writes_no_more(claim: Claim, caplog: pytest.LogCaptureFixture) -> None:
    worker = ended(claim).worker
    assert worker is not None
    bench = FakeBench()
    taken_away = tools(points(160, then=lambda: runs_give_back(worker=worker)), bench)
    assert run_execute(claim=claim, tools=taken_away) is False
    run = ended(claim)
    assert (run.state, run.stages) == (RunState.QUEUED, {})
    assert "was taken away" in caplog.text


def test_a_lost_database_sends_the_run_back(claim: Claim, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jobs.services.execute.connection.close", lambda: None)
    run_execute(claim=claim, tools=tools(points(160, then=raising(OperationalError("gone")))))
    run = ended(claim)
    assert run.state == RunState.QUEUED
    assert run.events.last().data["message"].startswith("Its worker lost the database")


def test_a_second_attempt_measures_only_what_is_missing(claim: Claim) -> None:
    worker = ended(claim).worker
    assert worker is not None
    first = FakeBench()
    run_execute(claim=claim, tools=tools(points(160, 320, then=lambda: runs_give_back(worker=worker)), first))
    again = run_claim(worker=worker)
    assert again is not None
    second = FakeBench()
    run_execute(claim=again, tools=tools(points(160, 320, 640), second))
    run = ended(again)
    assert (first.asked, second.asked) == ([160, 320], [640])
    assert run.state == RunState.DONE and [row.context for row in run.measurements.all()] == [160, 320, 640]
    assert kinds(run).count("measurement") == 3 and kinds(run).count("stage_started") == 1


def test_another_environment_measures_everything_anew(claim: Claim) -> None:
    worker = ended(claim).worker
    assert worker is not None
    run_execute(claim=claim, tools=tools(points(160, then=lambda: runs_give_back(worker=worker))))
    again = run_claim(worker=worker)
    assert again is not None
    bench = FakeBench()
    bench.versions = {"transformers": "6.0.0"}
    run_execute(claim=again, tools=tools(points(160), bench))
    run = ended(again)
    assert bench.asked == [160] and Row.objects.count() == 1
    assert any("measured anew" in event.data.get("message", "") for event in run.events.all())


def test_a_model_that_was_not_inspected_is_inspected_first() -> None:
    worker = make_worker()
    make_run(profile=make_profile(worker, make_entry(inspected=False)))
    claim = run_claim(worker=worker)
    assert claim is not None
    run_execute(claim=claim, tools=tools(points(160)))
    run = ended(claim)
    assert run.state == RunState.DONE
    assert run.profile.model_entry.state == "ready" and run.profile.model_entry.record is not None
    assert run.events.get(seq=2).data["message"].startswith("Inspecting the model")


def test_a_model_that_its_inspection_refuses_fails_the_run() -> None:
    worker = make_worker()
    make_run(profile=make_profile(worker, make_entry(inspected=False)))
    claim = run_claim(worker=worker)
    assert claim is not None

    def refuse(spec: Any, **_: Any) -> InspectionRecord:
        raise Refusal("no_cache", "This model keeps no cache.", "Choose another.")

    run_execute(claim=claim, tools=tools(points(160), inspect=refuse))
    assert ended(claim).error["code"] == "no_cache"


def test_nothing_is_logged_as_an_error_for_a_plain_run(claim: Claim, caplog: pytest.LogCaptureFixture) -> None:
    run_execute(claim=claim, tools=tools(points(160)))
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


def test_a_run_s_measuring_processes_see_its_worker_s_cards_alone() -> None:
    worker = make_worker("cuda:0", cards={"cuda:0": "GPU-a"})
    make_run(worker)
    claim = run_claim(worker=worker)
    assert claim is not None
    started: list[Any] = []

    def bench(*, start: Any, **_: Any) -> Any:
        started.append(start.keywords)
        return contextlib.nullcontext(FakeBench())

    assert run_execute(claim=claim, tools=replace(tools(points(16)), bench=bench))
    assert started == [{"cards": {"cuda:0": "GPU-a"}}]
