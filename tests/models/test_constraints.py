import pytest
from django.core.management import call_command
from django.db import IntegrityError, transaction

from jobs.models import Event, Measurement, ModelEntry, Run, RunState, Workload
from tests.factories import make_entry, make_run, make_worker

pytestmark = pytest.mark.django_db


def test_the_migrations_are_up_to_date() -> None:
    call_command("makemigrations", "--check", "--dry-run", verbosity=0)


@pytest.mark.parametrize("second", [RunState.RUNNING, RunState.CANCELLING])
def test_a_worker_has_one_run_at_a_time(second: RunState) -> None:
    worker = make_worker()
    make_run(worker, state=RunState.RUNNING)
    with pytest.raises(IntegrityError, match=r"worker"), transaction.atomic():
        make_run(worker, state=second)
    make_run(worker, state=RunState.QUEUED)
    make_run(worker, state=RunState.DONE)


def test_an_unknown_state_is_refused() -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        make_run(state="paused")
    with pytest.raises(IntegrityError), transaction.atomic():
        make_entry(state="lost")


def test_an_event_is_numbered_once() -> None:
    run = make_run()
    Event.objects.create(run=run, seq=1, kind="log")
    with pytest.raises(IntegrityError), transaction.atomic():
        Event.objects.create(run=run, seq=1, kind="log")


def test_a_point_is_measured_once_a_run() -> None:
    run = make_run()
    row = {"run": run, "strategy": "default", "context": 160, "outcome": "ok", "data": {}}
    Measurement.objects.create(stage="budgets", **row)
    with pytest.raises(IntegrityError), transaction.atomic():
        Measurement.objects.create(stage="limit", **row)


def test_a_model_is_named_once_for_each_revision() -> None:
    make_entry("org/one")
    make_entry("org/one", revision="main")
    with pytest.raises(IntegrityError), transaction.atomic():
        ModelEntry.objects.create(kind="hub", name="org/one")


def test_a_workload_of_no_tokens_is_refused() -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        Workload.objects.create(name="none", prompt_tokens=0, typical_prompt_tokens=1, answer_tokens=1)


def test_a_worker_that_is_deleted_leaves_its_runs() -> None:
    run = make_run()
    assert run.worker is not None
    run.worker.delete()
    assert Run.objects.get(pk=run.pk).worker is None
