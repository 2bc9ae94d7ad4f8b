from datetime import timedelta
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone

from jobs.models import EntryState, Run, RunState
from jobs.services import sweep as sweeping
from jobs.services.claim import run_claim
from jobs.services.run import run_cancel
from jobs.services.sweep import Swept, run_sweep
from tests.factories import make_entry, make_run, make_worker

pytestmark = pytest.mark.django_db
NOTHING = Swept(given_back=0, runs_woken=0, inspections_woken=0, given_up=0)


@pytest.fixture(autouse=True)
def woken(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The runs and entries that were woken, in order."""
    rung: list[int] = []
    monkeypatch.setattr(sweeping, "run_wake_send", lambda run_id, queue: rung.append(run_id))
    monkeypatch.setattr(sweeping, "model_inspect_send", lambda entry_id: rung.append(entry_id))
    return rung


def later(seconds: float) -> Any:
    return timezone.now() + timedelta(seconds=seconds)


def test_a_run_is_left_alone_while_its_worker_beats() -> None:
    worker = make_worker()
    make_run(worker)
    run_claim(worker=worker)
    assert run_sweep(now=later(59)) == NOTHING


def test_a_run_whose_worker_is_silent_for_a_minute_goes_back_and_the_second_time_is_lost() -> None:
    worker = make_worker()
    run = make_run(worker)
    for state in (RunState.QUEUED, RunState.LOST):
        run_claim(worker=worker)
        assert run_sweep(now=later(61)).given_back == 1
        run.refresh_from_db()
        assert run.state == state
    assert run_sweep(now=later(61)) == NOTHING


def test_a_cancelling_run_whose_worker_is_dead_is_cancelled() -> None:
    worker = make_worker()
    run = make_run(worker)
    run_claim(worker=worker)
    run_cancel(run=run, user=None)
    assert run_sweep(now=later(61)).given_back == 1
    run.refresh_from_db()
    assert run.state == RunState.CANCELLED


def test_the_bounds_come_from_the_caller() -> None:
    worker = make_worker()
    make_run(worker)
    run_claim(worker=worker)
    assert run_sweep(now=later(6), lost_after_s=5).given_back == 1


@pytest.mark.parametrize(("woken_s_ago", "rings"), [(None, 1), (31, 1), (29, 0)])
def test_an_idle_worker_s_queued_run_is_woken_after_half_a_minute(
    woken: list[int], woken_s_ago: float | None, rings: int
) -> None:
    run = make_run(make_worker(), woken_at=None if woken_s_ago is None else later(-woken_s_ago))
    assert run_sweep().runs_woken == rings
    assert woken == [run.pk] * rings


def test_only_the_oldest_of_a_device_is_woken(woken: list[int]) -> None:
    worker = make_worker()
    oldest, _ = make_run(worker), make_run(worker)
    assert run_sweep().runs_woken == 1 and woken == [oldest.pk]


def test_a_busy_or_dead_worker_is_not_woken(woken: list[int]) -> None:
    busy = make_worker()
    make_run(busy)
    run_claim(worker=busy)
    make_run(busy)
    make_run(make_worker("cuda:0", seen_at=later(-61)))
    assert run_sweep() == NOTHING and not woken


def test_a_waiting_inspection_is_woken_again_and_in_the_end_given_up(woken: list[int]) -> None:
    entry = make_entry(inspected=False, woken_at=later(-31))
    doomed = make_entry(inspected=False, woken_at=later(-31), attempts=3)
    fresh = make_entry(inspected=False, woken_at=timezone.now())
    swept = run_sweep()
    assert (swept.inspections_woken, swept.given_up, woken) == (1, 1, [entry.pk])
    doomed.refresh_from_db()
    fresh.refresh_from_db()
    assert doomed.state == EntryState.REFUSED and doomed.error["code"] == "inspection_lost"
    assert fresh.state == EntryState.WAITING


def test_a_sweep_of_many_takes_as_many_queries_as_of_few(django_assert_max_num_queries: Any) -> None:
    for number in range(8):
        make_run(make_worker(host=f"box{number}"))
    with django_assert_max_num_queries(6):
        run_sweep()


def test_the_command_says_what_it_did(capsys: pytest.CaptureFixture[str]) -> None:
    make_run(make_worker())
    call_command("sweep")
    assert "runs woken: 1" in capsys.readouterr().out


def test_the_command_goes_on_after_a_database_error(monkeypatch: pytest.MonkeyPatch) -> None:
    from django.db import OperationalError

    from jobs.management.commands import sweep as command

    class Enough(Exception):
        pass

    rounds: list[float] = []

    def fail() -> Swept:
        raise OperationalError("away")

    def count(seconds: float) -> None:
        rounds.append(seconds)
        if len(rounds) == 2:
            raise Enough

    monkeypatch.setattr(command, "run_sweep", fail)
    monkeypatch.setattr(command.connection, "close", lambda: None)
    monkeypatch.setattr(command.time, "sleep", count)
    with pytest.raises(Enough):
        call_command("sweep", every=30.0)
    assert rounds == [30.0, 30.0]
    assert not Run.objects.exists()
