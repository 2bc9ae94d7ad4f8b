from typing import Any

import pytest
from django.test import TestCase
from kombu.exceptions import OperationalError

from jobs.models import Event, Profile, Run, RunState
from jobs.services import wake
from jobs.services.claim import run_claim
from jobs.services.run import run_again, run_cancel, run_submit
from jobs.sizing.refusal import Refusal
from tests.factories import make_entry, make_profile, make_question, make_run, make_user, make_worker

pytestmark = pytest.mark.django_db


def submit(**fields: Any) -> Run:
    given: dict[str, Any] = {
        "user": None,
        "name": "one",
        "entry": make_entry(),
        "question": make_question(),
        "workload": None,
    } | fields
    return run_submit(worker=given.pop("worker", None) or make_worker(), **given)


def messages(run: Run) -> list[str]:
    return [event.data["message"] for event in Event.objects.filter(run=run)]


def test_a_submitted_question_is_a_profile_and_a_queued_run() -> None:
    user, worker = make_user(), make_worker()
    run = submit(user=user, worker=worker, name="Llama on the box")
    profile = Profile.objects.get()
    assert (run.profile, run.state, run.queue, run.submitted_by) == (profile, "queued", "device.box.cpu", user)
    assert profile.question == run.question == make_question().as_json()
    assert messages(run) == ["Waiting for cpu of box."] and run.last_seq == 1


def test_a_profile_without_a_name_gets_one() -> None:
    assert submit(name=" ", entry=make_entry("org/llama")).profile.name == "org/llama on A processor"


def test_the_wake_up_goes_to_the_device_s_queue_after_the_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[tuple[str, list[int], str]] = []
    monkeypatch.setattr(
        wake.app, "send_task", lambda task, args, queue, **_: sent.append((task, args, queue)), raising=True
    )
    with TestCase.captureOnCommitCallbacks() as callbacks:
        run = submit()
        assert not sent
    for callback in callbacks:
        callback()
    assert sent == [("jobs.tasks.run_wake", [run.pk], "device.box.cpu")]
    run.refresh_from_db()
    assert run.woken_at is not None


@pytest.mark.parametrize("error", [OperationalError("down"), ConnectionRefusedError("down")])
def test_a_broker_that_is_down_loses_no_run(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(wake.app, "send_task", fail)
    with TestCase.captureOnCommitCallbacks(execute=True):
        run = submit()
    assert Run.objects.get(pk=run.pk).state == RunState.QUEUED


def test_a_refused_model_is_not_queued() -> None:
    error = {"code": "no_config", "message": "There is no config.", "hint": "Choose another."}
    with pytest.raises(Refusal, match="no config"):
        submit(entry=make_entry(state="refused", error=error))
    assert not Profile.objects.exists()


def test_a_question_for_another_device_is_refused() -> None:
    with pytest.raises(Refusal, match="measures on cpu"):
        submit(question=make_question(device="cuda:0"))


def test_again_asks_the_same_question_anew() -> None:
    profile = make_profile()
    first, second = (run_again(profile=profile, user=None) for _ in range(2))
    assert first.pk != second.pk and first.question == second.question == profile.question


def test_again_without_its_worker_is_refused() -> None:
    profile = make_profile()
    assert profile.worker is not None
    profile.worker.delete()
    profile.refresh_from_db()
    with pytest.raises(Refusal, match=r"^No worker for cpu is connected"):
        run_again(profile=profile, user=None)


def test_a_queued_run_is_cancelled_at_once_and_by_whom() -> None:
    user = make_user("ada")
    run = run_cancel(run=make_run(), user=user)
    assert (run.state, run.cancelled_by, messages(run)) == ("cancelled", user, ["Cancelled by ada."])
    assert run.finished_at is not None


def test_a_running_run_is_asked_to_stop() -> None:
    worker = make_worker()
    run = make_run(worker)
    run_claim(worker=worker)
    run = run_cancel(run=run, user=make_user("ada"))
    assert run.state == RunState.CANCELLING and run.finished_at is None
    assert messages(run)[-1] == "Cancelling: asked by ada."


@pytest.mark.parametrize("state", ["cancelling", "done", "failed", "cancelled", "lost"])
def test_what_has_ended_or_is_ending_stays_as_it_is(state: str) -> None:
    run = make_run(state=state)
    run = run_cancel(run=run, user=make_user())
    assert (run.state, run.cancelled_by, run.last_seq) == (state, None, 0)
