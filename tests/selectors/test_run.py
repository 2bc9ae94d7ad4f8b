from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from jobs.models import Event, Run, Worker
from jobs.selectors.run import (
    events_after,
    measurements_of,
    queue_position,
    queue_reason,
    run_get,
    run_progress,
    runs_active,
    runs_recent,
)
from jobs.services.claim import run_claim
from jobs.services.record import measurement_keep
from tests.factories import make_measurement, make_run, make_worker

pytestmark = pytest.mark.django_db


def test_positions_follow_the_queue_of_one_device() -> None:
    worker = make_worker()
    first, second, third = (make_run(worker) for _ in range(3))
    make_run(make_worker("cuda:0"))
    assert [queue_position(run) for run in (first, second, third)] == [1, 2, 3]
    run_claim(worker=worker)
    first.refresh_from_db()
    assert [queue_position(run) for run in (first, second, third)] == [None, 2, 3]


def test_a_run_put_back_keeps_its_place() -> None:
    worker = make_worker()
    early, late = make_run(worker), make_run(worker)
    Run.objects.filter(pk=early.pk).update(attempts=1)
    assert (queue_position(early), queue_position(late)) == (1, 2)


def test_the_reason_counts_the_runs_before() -> None:
    worker = make_worker()
    runs = [make_run(worker) for _ in range(3)]
    assert [queue_reason(run) for run in runs] == [
        "Next on cpu of box.",
        "1 run before this one on cpu of box.",
        "2 runs before this one on cpu of box.",
    ]


def test_a_silent_worker_is_the_reason() -> None:
    seen_at = timezone.now() - timedelta(seconds=61)
    run = make_run(make_worker(seen_at=seen_at))
    assert queue_reason(run) == f"No worker for cpu of box has been seen since {seen_at:%d %b %Y, %H:%M} UTC."


def test_a_worker_that_is_still_being_asked_is_the_reason() -> None:
    run = make_run(make_worker(versions={}))
    assert queue_reason(run).startswith("The worker for cpu of box is starting")


def test_a_worker_that_is_gone_is_the_reason() -> None:
    run = make_run()
    Worker.objects.all().delete()
    assert queue_reason(run_get(run.pk)).startswith("Its worker is gone")


def test_what_does_not_wait_has_no_position_and_no_reason() -> None:
    run = make_run(state="done")
    assert queue_position(run) is None and queue_reason(run) == ""


def test_events_come_in_order_after_a_number_and_in_batches() -> None:
    run = make_run()
    for seq in (3, 1, 2, 4):
        Event.objects.create(run=run, seq=seq, kind="log", data={"message": str(seq)})
    assert [event["seq"] for event in events_after(run, 1, 2)] == [2, 3]
    assert events_after(run, 3)[0].keys() == {"seq", "kind", "data", "at"}
    assert events_after(run, 4) == []


def test_progress_says_what_a_watcher_lacks() -> None:
    worker = make_worker()
    run = make_run(worker)
    assert run_progress(run, 0) == {
        "events": [],
        "state": "queued",
        "queue": {"position": 1, "reason": "Next on cpu of box."},
    }
    run_claim(worker=worker)
    progress = run_progress(run_get(run.pk), 0)
    assert progress["state"] == "running" and progress["queue"] is None and len(progress["events"]) == 1


def test_measurements_come_in_the_order_they_were_made() -> None:
    run = make_run()
    for context in (500, 100):
        measurement_keep(run_id=run.pk, data=make_measurement(context=context).as_json())
    assert [row["context"] for row in measurements_of(run)] == [500, 100]


def test_active_and_recent_runs_are_apart() -> None:
    worker = make_worker()
    waiting, ended = make_run(worker), make_run(worker, state="done", finished_at=timezone.now())
    assert list(runs_active()) == [waiting] and list(runs_recent()) == [ended]


@pytest.mark.parametrize("rows", [1, 6])
def test_lists_of_runs_take_one_query(rows: int, django_assert_num_queries: Any) -> None:
    for _ in range(rows):
        make_run()
    with django_assert_num_queries(1):
        for run in runs_active():
            str((run.profile.name, run.model_entry.name, run.worker, run.submitted_by, run.cancelled_by))
