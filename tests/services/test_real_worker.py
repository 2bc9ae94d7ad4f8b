"""What only real processes show: a prefork Celery worker, a real Valkey, and measuring processes that hang."""

import os
import signal
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from celery import Celery

from jobs.models import Run, RunState, Worker
from jobs.services import wake
from jobs.services.run import run_cancel
from jobs.services.worker import worker_register
from kvportal.env import celery_broker
from tests.factories import make_entry, make_profile, make_question, make_run
from tests.services.measuring_python import MeasuringPython
from tests.services.worker_process import HOST, WorkerProcess, is_alive, until
from tests.valkey import valkey_folder, valkey_in

pytestmark = pytest.mark.django_db(transaction=True)
STUCK_AT = 1056  # the longest context of the question: prompt 1,024 and answer 32


@pytest.fixture
def python(tmp_path: Path) -> MeasuringPython:
    return MeasuringPython(tmp_path)


@pytest.fixture
def worker(valkey_url: str, python: MeasuringPython, tmp_path: Path) -> WorkerProcess:
    return WorkerProcess(valkey_url=valkey_url, measuring_python=python.path, folder=tmp_path)


@pytest.fixture
def queued() -> Run:
    row = worker_register(device="cpu", kind="cpu", device_name="A stand-in", capacity_bytes=2**30, host=HOST)
    question = make_question(device="cpu", capacity_bytes=10**6)
    return make_run(profile=make_profile(row, make_entry(), question=question.as_json()))


@pytest.fixture
def broker(valkey_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """This process's wake-ups go to the same Valkey."""
    with Celery(broker=celery_broker(valkey_url), set_as_current=False) as app:
        monkeypatch.setattr(wake, "app", app)
        yield


def state(run: Run) -> str:
    run.refresh_from_db()
    return run.state


def test_a_worker_that_starts_takes_what_waits_and_says_what_it_can_do(
    queued: Run, worker: WorkerProcess, python: MeasuringPython
) -> None:
    with worker:
        until(lambda: state(queued) == RunState.DONE, worker)
        until(lambda: Worker.objects.get().applicable == {"default": True}, worker)
    assert Worker.objects.get().device_name == "A stand-in"
    assert queued.measurements.count() == len(set(python.measured())) >= 3
    assert set(queued.stages) == {"download", "budgets", "baseline", "changes", "limit"}
    until(lambda: not any(is_alive(pid) for pid in python.pids()))


def test_a_worker_killed_mid_run_leaves_no_process_and_the_next_one_goes_on(
    queued: Run, worker: WorkerProcess, python: MeasuringPython
) -> None:
    python.stay_silent_at(STUCK_AT)
    with worker:
        until(lambda: STUCK_AT in python.measured(), worker)
        children = worker.child_pids
        assert children and all(is_alive(pid) for pid in children)
        os.kill(worker.process.pid, signal.SIGKILL)
        worker.process.wait()
        until(lambda: not any(is_alive(pid) for pid in (*children, *python.pids())), patience_s=25)
    kept = queued.measurements.count()
    assert state(queued) == RunState.RUNNING and kept >= 1
    python.stay_silent_at()
    with worker:
        until(lambda: state(queued) == RunState.DONE, worker)
    assert queued.attempts == 2 and python.measured().count(STUCK_AT) == 2
    assert len(python.measured()) == queued.measurements.count() + 1  # all but the one it died at were kept
    assert any("back in the queue" in event.data.get("message", "") for event in queued.events.all())


def test_a_killed_child_costs_the_worker_nothing_but_time(
    queued: Run, worker: WorkerProcess, python: MeasuringPython
) -> None:
    python.stay_silent_at(STUCK_AT)
    with worker:
        until(lambda: STUCK_AT in python.measured(), worker)
        python.stay_silent_at()
        os.kill(worker.child_pids[0], signal.SIGKILL)
        until(lambda: state(queued) == RunState.DONE, worker)
    assert queued.attempts == 2


def test_an_orderly_stop_puts_the_run_back_and_costs_no_attempt(
    queued: Run, worker: WorkerProcess, python: MeasuringPython
) -> None:
    python.stay_silent_at(STUCK_AT)
    with worker:
        until(lambda: STUCK_AT in python.measured(), worker)
        os.kill(worker.process.pid, signal.SIGQUIT)
        worker.process.wait(25)
        until(lambda: not any(is_alive(pid) for pid in python.pids()), patience_s=25)
    assert (state(queued), queued.attempts) == (RunState.QUEUED, 0), worker.log


def test_a_cancel_mid_measurement_ends_the_run_and_its_process_within_its_bound(
    queued: Run, worker: WorkerProcess, python: MeasuringPython
) -> None:
    python.stay_silent_at(STUCK_AT)
    with worker:
        until(lambda: STUCK_AT in python.measured(), worker)
        run_cancel(run=queued, user=None)
        until(lambda: state(queued) == RunState.CANCELLED, worker, patience_s=10)  # five times the promised 2 s
        assert not any(is_alive(line[0]) for line in python.lines() if len(line) == 2)
    assert queued.measurements.count() >= 1


def test_a_wake_up_reaches_a_worker_that_waits_and_a_second_one_changes_nothing(
    queued: Run, worker: WorkerProcess, broker: None
) -> None:
    Run.objects.filter(pk=queued.pk).update(state=RunState.DONE)
    with worker:
        until(lambda: Worker.objects.get().applicable, worker)
        Run.objects.filter(pk=queued.pk).update(state=RunState.QUEUED)
        for _ in range(2):
            assert wake.run_wake_send(run_id=queued.pk, queue=queued.queue)
        until(lambda: state(queued) == RunState.DONE, worker)
        until(lambda: worker.log.count("succeeded in") >= 2, worker)
    assert queued.attempts == 1


def test_a_worker_hears_again_after_the_broker_was_reset(
    queued: Run, python: MeasuringPython, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Run.objects.filter(pk=queued.pk).update(state=RunState.DONE)
    with valkey_folder() as folder, ExitStack() as first:
        url = first.enter_context(valkey_in(folder))
        with WorkerProcess(valkey_url=url, measuring_python=python.path, folder=tmp_path) as worker:
            until(lambda: Worker.objects.get().applicable, worker)
            first.close()
            until(lambda: "Connection to broker lost" in worker.log, worker)
            Run.objects.filter(pk=queued.pk).update(state=RunState.QUEUED)
            with valkey_in(folder), Celery(broker=celery_broker(url), set_as_current=False) as app:
                monkeypatch.setattr(wake, "app", app)
                assert wake.run_wake_send(run_id=queued.pk, queue=queued.queue)
                until(lambda: state(queued) == RunState.DONE, worker)


@pytest.mark.parametrize("options", [("-P", "solo"), ("-P", "threads", "-c", "1"), ("-P", "prefork", "-c", "2")])
def test_a_device_s_worker_refuses_an_unfit_pool(
    valkey_url: str, python: MeasuringPython, tmp_path: Path, options: tuple[str, ...]
) -> None:
    worker = WorkerProcess(valkey_url=valkey_url, measuring_python=python.path, folder=tmp_path, options=options)
    with worker:
        assert worker.process.wait(30) == 1
    assert "takes -P prefork -c 1" in worker.log and "Traceback" not in worker.log
