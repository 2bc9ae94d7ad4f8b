from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.core.management import call_command
from django.test import override_settings
from django.utils import timezone

from jobs.management.commands import sweep
from jobs.models import Adoption, Deed, Freshness, Profile, Purpose, Run, RunState, Worker
from jobs.services.claim import run_claim
from jobs.services.night import is_night, night_recheck
from jobs.services.recheck import run_recheck
from jobs.services.run import run_again
from jobs.sizing.refusal import Refusal
from kvportal import env
from tests.factories import make_profile, make_run, make_user, make_worker
from tests.services.threads import at_once

pytestmark = pytest.mark.django_db
NIGHT = datetime(2026, 3, 3, 2, 0, tzinfo=UTC)


def answered(worker: Worker | None = None, **fields: Any) -> Profile:
    """A profile whose answer is stale."""
    profile = make_profile(worker, **{"freshness": Freshness.STALE, "differs_since": NIGHT} | fields)
    run = make_run(profile=profile, state=RunState.DONE, answered=True)
    Run.objects.filter(pk=run.pk).update(queued_at=NIGHT - timedelta(days=3))
    profile.answer_run = run
    profile.save()
    return profile


def at_night(hours: float = 0, **settings: Any) -> list[Run]:
    """A round so long after two o'clock at night, all workers alive."""
    now = NIGHT + timedelta(hours=hours)
    Worker.objects.update(seen_at=now)
    with override_settings(**{"RECHECK_HOURS": (1, 5), "RECHECK_TIME_ZONE": "UTC"} | settings):
        runs = night_recheck(now=now)
    for run in runs:
        Run.objects.filter(pk=run.pk).update(queued_at=now)
    return runs


def test_a_recheck_asks_the_question_as_it_is_now_beside_the_answer_in_force() -> None:
    profile, user = answered(), make_user("ada")
    profile.question = profile.question | {"headroom_percent": 20}
    profile.save()
    run = run_recheck(profile=profile, user=user)
    assert (run.purpose, run.behind, run.submitted_by) == (Purpose.RECHECK, 0, user)
    assert run.compared_with == profile.answer_run and run.question == profile.question
    deed = Deed.objects.get()
    assert (deed.who, deed.what, deed.run) == ("ada", "rechecked", run)


def test_a_recheck_that_waits_is_not_asked_for_twice() -> None:
    profile, user = answered(), make_user()
    assert run_recheck(profile=profile, user=user) == run_recheck(profile=profile, user=user)
    assert Run.objects.count() == 2 and Deed.objects.count() == 1


def test_a_recheck_of_what_the_schedule_asked_for_waits_behind_nobody() -> None:
    profile, user = answered(), make_user()
    (waiting,) = at_night()
    run = run_recheck(profile=profile, user=user)
    assert run == waiting and (run.purpose, run.behind, run.submitted_by) == (Purpose.RECHECK, 0, user)


def test_an_edited_question_is_rechecked_although_the_one_of_before_waits() -> None:
    profile = answered()
    first = run_recheck(profile=profile, user=None)
    profile.question = profile.question | {"sequences": 2}
    profile.save()
    assert run_recheck(profile=profile, user=None) != first


@pytest.mark.parametrize(("lost", "code"), [("worker", "no_worker"), ("answer_run", "nothing_to_recheck")])
def test_without_a_worker_or_an_answer_nothing_is_rechecked(lost: str, code: str) -> None:
    profile = answered()
    setattr(profile, lost, None)
    profile.save()
    Worker.objects.filter(profiles=None).delete()
    with pytest.raises(Refusal) as refused:
        run_recheck(profile=profile, user=None)
    assert refused.value.code == code


def test_the_schedule_rechecks_the_adopted_first_then_the_longest_stale_then_the_doubtful() -> None:
    worker = make_worker()
    doubtful = answered(worker, freshness=Freshness.DOUBT, differs_since=NIGHT - timedelta(days=9))
    late, early = (answered(worker, differs_since=NIGHT - timedelta(days=days)) for days in (1, 5))
    adopted = answered(worker)
    assert adopted.answer_run
    adopted.adoption = Adoption.objects.create(profile=adopted, run=adopted.answer_run, context=100, strategy="default")
    adopted.save()
    asked = []
    for minutes in range(4):
        (run,) = at_night(minutes / 60)
        asked.append(run.profile)
        assert (run.purpose, run.behind, run.submitted_by) == (Purpose.NIGHT, 1, None)
        assert at_night(minutes / 60) == [], "one at a time"
        Run.objects.filter(pk=run.pk).update(state=RunState.FAILED)
    assert asked == [adopted, early, late, doubtful]
    assert {deed.who for deed in Deed.objects.all()} == {"the schedule"}


def test_what_was_rechecked_is_left_alone_for_twenty_hours_whatever_became_of_it() -> None:
    answered()
    (run,) = at_night()
    Run.objects.filter(pk=run.pk).update(state=RunState.FAILED)
    assert at_night(2.9) == []
    assert len(at_night(24)) == 1


@pytest.mark.parametrize(
    "fields",
    [{"at_night": False}, {"archived_at": NIGHT}, {"freshness": Freshness.FRESH}, {"freshness": Freshness.NONE}],
)
def test_the_schedule_leaves_alone_what_holds_or_is_not_its_business(fields: dict[str, Any]) -> None:
    answered(**fields)
    assert at_night() == []


def test_the_schedule_asks_nothing_of_a_worker_that_is_away_broken_or_busy() -> None:
    for worker in (make_worker(host="new", versions={}), make_worker(host="broken", error={"code": "x"})):
        answered(worker)
    busy = answered(make_worker(host="busy"))
    run_again(profile=make_profile(busy.worker), user=None)
    assert at_night() == []
    answered(make_worker(host="away"))
    Worker.objects.update(seen_at=NIGHT - timedelta(minutes=2))
    with override_settings(RECHECK_HOURS=(1, 5)):
        assert night_recheck(now=NIGHT) == []


def test_each_idle_worker_is_asked_one_thing_in_as_many_queries_as_there_are_workers(
    django_assert_max_num_queries: Any,
) -> None:
    workers = [make_worker(host=f"box{number}") for number in range(2)]
    profiles = [answered(worker) for worker in workers for _ in range(5)]
    with django_assert_max_num_queries(45):
        runs = at_night()
    assert [run.worker for run in runs] == workers and len(profiles) == 10


def test_people_s_runs_are_claimed_before_a_night_s_that_waits_longer() -> None:
    worker = make_worker()
    profile = answered(worker)
    (night,) = at_night()
    mine = run_again(profile=profile, user=make_user())
    Worker.objects.update(seen_at=timezone.now())
    first = run_claim(worker=worker)
    assert first and first.run_id == mine.pk
    Run.objects.filter(pk=mine.pk).update(state=RunState.DONE)
    second = run_claim(worker=worker)
    assert second and second.run_id == night.pk


@pytest.mark.parametrize(
    ("hour", "hours", "zone", "night"),
    [
        (1, (1, 5), "UTC", True),
        (5, (1, 5), "UTC", False),
        (0, (1, 5), "UTC", False),
        (0, (1, 5), "Europe/Berlin", True),
        (23, (22, 6), "UTC", True),
        (5, (22, 6), "UTC", True),
        (12, (22, 6), "UTC", False),
        (3, None, "UTC", False),
    ],
)
def test_the_hours_are_of_the_team_s_day(hour: int, hours: Any, zone: str, night: bool) -> None:
    with override_settings(RECHECK_HOURS=hours, RECHECK_TIME_ZONE=zone):
        assert is_night(datetime(2026, 1, 15, hour, 30, tzinfo=UTC)) is night


@pytest.mark.parametrize(
    ("given", "hours"), [("", (1, 5)), ("22-6", (22, 6)), ("0-24", (0, 24)), (" 3-4 ", (3, 4)), ("off", None)]
)
def test_the_hours_are_read_from_the_environment(monkeypatch: pytest.MonkeyPatch, given: str, hours: Any) -> None:
    monkeypatch.setenv("RECHECK_HOURS", given)
    assert env.hours("RECHECK_HOURS", default="1-5") == hours


@pytest.mark.parametrize("given", ["1", "5-5", "24-3", "1-25", "a-b", "1-5-6", "-1-3", "٣-٥"])
def test_hours_that_are_none_are_refused(monkeypatch: pytest.MonkeyPatch, given: str) -> None:
    monkeypatch.setenv("RECHECK_HOURS", given)
    with pytest.raises(Refusal, match="not a span of hours"):
        env.hours("RECHECK_HOURS", default="1-5")


@pytest.mark.parametrize("given", ["Mars/Olympus", "../etc/passwd", "/etc/localtime", "Europe"])
def test_a_time_zone_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch, given: str) -> None:
    monkeypatch.setenv("RECHECK_TIME_ZONE", "Europe/Berlin")
    assert env.time_zone("RECHECK_TIME_ZONE", default="UTC") == "Europe/Berlin"
    monkeypatch.setenv("RECHECK_TIME_ZONE", given)
    with pytest.raises(Refusal, match="not a time zone"):
        env.time_zone("RECHECK_TIME_ZONE", default="UTC")


@pytest.mark.django_db(transaction=True)
def test_two_sweeps_at_once_ask_once() -> None:
    answered()
    Worker.objects.update(seen_at=NIGHT)
    with override_settings(RECHECK_HOURS=(1, 5), RECHECK_TIME_ZONE="UTC"):
        rounds = at_once(*[lambda: night_recheck(now=NIGHT)] * 2)
    assert sum(map(len, rounds)) == 1


def test_the_sweep_asks_at_night_and_looks_at_the_hub(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    answered()
    monkeypatch.setattr(sweep, "hub_look", lambda: 2)
    with override_settings(RECHECK_HOURS=None):
        call_command("sweep")
    assert capsys.readouterr().out.strip() == "models moved: 2"
    with override_settings(RECHECK_HOURS=(0, 24)):
        call_command("sweep")
    assert capsys.readouterr().out.strip() == "rechecks asked for: 1, models moved: 2"


@pytest.mark.django_db(transaction=True)
def test_rechecks_asked_for_at_once_are_one_run() -> None:
    profile = answered()
    made = at_once(*[lambda: run_recheck(profile=Profile.objects.get(pk=profile.pk), user=None)] * 4)
    assert len({run.pk for run in made}) == 1
    assert profile.runs.filter(purpose=Purpose.RECHECK).count() == 1
