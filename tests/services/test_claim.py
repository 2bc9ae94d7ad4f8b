from datetime import timedelta

import pytest
from django.utils import timezone

from jobs.models import Event, Run, RunState
from jobs.services.claim import Claim, run_claim, run_give_back, runs_give_back
from jobs.services.run import run_cancel
from tests.factories import make_profile, make_run, make_worker
from tests.services.threads import at_once


@pytest.mark.django_db
def test_a_claim_takes_the_run_with_a_lease() -> None:
    worker = make_worker()
    run = make_run(worker)
    claim = run_claim(worker=worker)
    assert claim is not None
    run.refresh_from_db()
    assert (run.state, run.lease, run.attempts) == ("running", claim.lease, 1)
    assert len(claim.lease) == 40 and run.seen_at == run.started_at


@pytest.mark.django_db
def test_the_oldest_is_taken_first() -> None:
    worker = make_worker()
    runs = [make_run(worker) for _ in range(3)]
    Run.objects.filter(pk=runs[1].pk).update(queued_at=timezone.now() - timedelta(hours=1))
    claim = run_claim(worker=worker)
    assert claim is not None and claim.run_id == runs[1].pk


@pytest.mark.django_db
def test_another_device_s_run_is_left_alone() -> None:
    make_run(make_worker("cuda:0"))
    assert run_claim(worker=make_worker("cpu")) is None


@pytest.mark.django_db
def test_a_worker_that_is_still_being_asked_takes_nothing() -> None:
    worker = make_worker(versions={})
    make_run(worker)
    assert run_claim(worker=worker) is None
    worker.error = {"code": "measuring_died", "message": "It died.", "hint": ""}
    assert run_claim(worker=worker) is not None


@pytest.mark.django_db
def test_a_second_delivery_changes_nothing() -> None:
    worker = make_worker()
    runs = [make_run(worker) for _ in range(2)]
    assert run_claim(worker=worker)
    before = list(Run.objects.order_by("pk").values()), Event.objects.count()
    assert run_claim(worker=worker) is None
    assert (list(Run.objects.order_by("pk").values()), Event.objects.count()) == before
    assert Run.objects.get(pk=runs[1].pk).state == RunState.QUEUED


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("queued", [1, 3])
def test_of_four_claims_at_once_one_wins(queued: int) -> None:
    worker = make_worker()
    profile = make_profile(worker)
    for _ in range(queued):
        make_run(profile=profile)
    claims = at_once(*[lambda: run_claim(worker=worker)] * 4)
    won = [claim for claim in claims if claim is not None]
    assert [type(claim) for claim in won] == [Claim]
    assert Run.objects.filter(state=RunState.RUNNING).get().lease == won[0].lease
    assert Event.objects.filter(kind="state").count() == 1


@pytest.mark.django_db
def test_the_first_death_puts_a_run_back_and_the_second_loses_it() -> None:
    worker = make_worker()
    run = make_run(worker)
    run_claim(worker=worker)
    assert runs_give_back(worker=worker) == 1
    run.refresh_from_db()
    assert (run.state, run.lease, run.attempts) == ("queued", "", 1)
    run_claim(worker=worker)
    assert runs_give_back(worker=worker) == 1
    run.refresh_from_db()
    assert run.state == RunState.LOST and run.error["code"] == "worker_lost" and run.error["hint"]
    assert run.error["message"] == "Its worker died twice."
    assert run.finished_at is not None


@pytest.mark.django_db
def test_an_orderly_stop_costs_no_attempt() -> None:
    worker = make_worker()
    run = make_run(worker)
    for _ in range(3):
        run_claim(worker=worker)
        runs_give_back(worker=worker, why="Its worker was stopped", counts=False)
    run.refresh_from_db()
    assert (run.state, run.attempts) == ("queued", 0)
    assert run.events.last().data["message"] == "Its worker was stopped; back in the queue, measurements kept."


@pytest.mark.django_db
def test_a_dead_worker_s_cancelling_run_is_cancelled() -> None:
    worker = make_worker()
    run = make_run(worker)
    run_claim(worker=worker)
    run_cancel(run=run, user=None)
    runs_give_back(worker=worker)
    run.refresh_from_db()
    assert run.state == RunState.CANCELLED


@pytest.mark.django_db
def test_a_run_that_moved_meanwhile_is_not_put_back() -> None:
    worker = make_worker()
    run = make_run(worker)
    run_claim(worker=worker)
    seen = Run.objects.get(pk=run.pk)
    runs_give_back(worker=worker)
    run_claim(worker=worker)
    assert run_give_back(run=seen) is False
    assert Run.objects.get(pk=run.pk).state == RunState.RUNNING
