from functools import partial

import pytest

from jobs.models import Event as EventRow
from jobs.models import Measurement, Run, RunState
from jobs.procedure.events import Event, EventKind
from jobs.services.claim import run_claim, runs_give_back
from jobs.services.record import LeaseLost, event_record
from jobs.services.run import run_cancel
from tests.factories import make_measurement, make_run, make_worker
from tests.services.threads import at_once


def log(message: str) -> Event:
    return Event(kind=EventKind.LOG, data={"message": message})


def claimed() -> tuple[Run, str]:
    worker = make_worker()
    run = make_run(worker)
    claim = run_claim(worker=worker)
    assert claim is not None
    return run, claim.lease


@pytest.mark.django_db
def test_events_are_numbered_from_one_without_gaps() -> None:
    run, lease = claimed()
    numbers = [event_record(run_id=run.pk, lease=lease, event=log(str(n))) for n in range(3)]
    assert numbers == [2, 3, 4]
    assert list(EventRow.objects.filter(run=run).values_list("seq", flat=True)) == [1, 2, 3, 4]


@pytest.mark.django_db(transaction=True)
def test_two_writers_never_share_a_number() -> None:
    run, lease = claimed()
    write = partial(event_record, run_id=run.pk, lease=lease)
    numbers = at_once(*(partial(write, event=log(str(n))) for n in range(4)))
    assert sorted(numbers) == [2, 3, 4, 5]


@pytest.mark.django_db
@pytest.mark.parametrize("lease", ["", "another"])
def test_without_the_lease_nothing_is_written(lease: str) -> None:
    run, _ = claimed()
    measured = Event(kind=EventKind.MEASUREMENT, data=make_measurement().as_json())
    with pytest.raises(LeaseLost):
        event_record(run_id=run.pk, lease=lease, event=measured)
    assert not Measurement.objects.exists() and EventRow.objects.count() == 1


@pytest.mark.django_db
def test_a_lease_ends_when_the_run_is_put_back_and_taken_again() -> None:
    run, lease = claimed()
    assert run.worker is not None
    runs_give_back(worker=run.worker)
    with pytest.raises(LeaseLost):
        event_record(run_id=run.pk, lease=lease, event=log("late"))
    run_claim(worker=run.worker)
    with pytest.raises(LeaseLost):
        event_record(run_id=run.pk, lease=lease, event=log("late"))


@pytest.mark.django_db
def test_a_cancelling_run_still_tells() -> None:
    run, lease = claimed()
    run_cancel(run=run, user=None)
    assert event_record(run_id=run.pk, lease=lease, event=log("the last word")) == 3
    run.refresh_from_db()
    assert run.state == RunState.CANCELLING


@pytest.mark.django_db
def test_a_measurement_is_kept_whole_and_told_again_replaces() -> None:
    run, lease = claimed()
    for peak_bytes in (100, 200):
        data = make_measurement(peak_bytes=peak_bytes).as_json()
        event_record(run_id=run.pk, lease=lease, event=Event(kind=EventKind.MEASUREMENT, data=data))
    kept = Measurement.objects.get()
    assert (kept.stage, kept.strategy, kept.context, kept.outcome) == ("baseline", "default", 160, "ok")
    assert kept.data == make_measurement(peak_bytes=200).as_json()


@pytest.mark.django_db
def test_stages_device_and_environment_are_kept_on_the_run() -> None:
    run, lease = claimed()
    told = [
        Event(kind=EventKind.LOADED, data={"device": {"kind": "cpu"}, "environment": {"versions": {}}, "load_s": 1.0}),
        Event(kind=EventKind.STAGE_FINISHED, data={"stage": "budgets", "result": {"capacity_bytes": 1}}),
        Event(kind=EventKind.STAGE_FINISHED, data={"stage": "baseline", "result": {"memory_limits": True}}),
    ]
    for event in told:
        event_record(run_id=run.pk, lease=lease, event=event)
    run.refresh_from_db()
    assert run.device == {"kind": "cpu"} and run.environment == {"versions": {}}
    assert run.stages == {"budgets": {"capacity_bytes": 1}, "baseline": {"memory_limits": True}}


@pytest.mark.django_db
def test_an_event_shows_no_folder_and_keeps_no_nul() -> None:
    run, lease = claimed()
    event_record(run_id=run.pk, lease=lease, event=log("killed in /srv/secret/place\x00"))
    assert EventRow.objects.get(run=run, seq=2).data == {"message": "killed in …/place"}
