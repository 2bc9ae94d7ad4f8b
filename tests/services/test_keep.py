from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from jobs.models import Run
from jobs.models.worker import worker_host
from jobs.selectors.model_entry import record_of
from jobs.selectors.run import events_after, measurements_of
from jobs.services.keep import run_keep
from jobs.sizing.model_spec import ModelKind, ModelSpec
from tests.factories import make_measurement, make_question, make_record, make_worker


def keep(**fields: Any) -> Run:
    given: dict[str, Any] = {
        "name": "by hand",
        "spec": ModelSpec(kind=ModelKind.ARCHITECTURE, name="SmolLM2-135M"),
        "question": make_question(),
        "record": make_record(),
        "stages": {"budgets": {"capacity_bytes": 1}, "limit": {"context": 160}},
        "measurements": [make_measurement().as_json(), make_measurement(context=320).as_json()],
        "device": {"kind": "cpu"},
        "environment": {"versions": {}},
        "started_at": timezone.now() - timedelta(seconds=90),
    }
    return run_keep(**(given | fields))


@pytest.mark.django_db
def test_a_run_answered_by_a_command_is_kept_as_a_worker_s_would_be() -> None:
    run = keep()
    assert (run.state, run.profile.name, run.worker, run.stages["limit"]) == ("done", "by hand", None, {"context": 160})
    assert [row["context"] for row in measurements_of(run)] == [160, 320]
    assert [event["kind"] for event in events_after(run, 0)] == ["stage_finished", "stage_finished", "state"]
    assert run.last_seq == 3 and record_of(run.profile.model_entry) == make_record()


@pytest.mark.django_db
def test_a_model_is_kept_once() -> None:
    assert keep().profile.model_entry == keep(record=None).profile.model_entry


@pytest.mark.django_db
def test_it_took_as_long_as_the_command_did() -> None:
    run = keep()
    assert run.started_at and run.finished_at
    assert 90 <= (run.finished_at - run.started_at).total_seconds() < 120
    assert run.queued_at == run.started_at


@pytest.mark.django_db
def test_what_is_kept_belongs_to_this_machine_s_worker_of_the_device() -> None:
    device = make_question().device
    make_worker(device, host="elsewhere")
    assert keep().profile.worker is None
    here = make_worker(device, host=worker_host())
    assert keep().profile.worker == here
