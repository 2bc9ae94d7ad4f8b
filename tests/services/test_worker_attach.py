"""Profiles without a worker: kept by a command where there was none, or left by one that is gone."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from jobs.models import Freshness, Profile, RunState
from jobs.services.claim import run_claim
from jobs.services.recheck import run_recheck
from jobs.services.run import run_again
from jobs.services.worker import worker_probed
from jobs.sizing.refusal import Refusal
from tests.factories import VERSIONS, make_profile, make_run, make_user, make_worker

pytestmark = pytest.mark.django_db
LONG_AGO = timedelta(days=3)
OLDER = VERSIONS | {"transformers": "4.1.0"}


def left(device_name: str = "A processor", versions: dict[str, str] = VERSIONS) -> Profile:
    """Answered with those versions on a device of that name, by a worker that is gone."""
    profile = make_profile(freshness=Freshness.FRESH)
    device = {"name": device_name} if device_name else {}
    run = make_run(profile=profile, state=RunState.DONE, answered=True, device=device, environment=versions)
    profile.answer_run = profile.latest_run = run
    profile.save()
    assert profile.worker
    profile.worker.delete()
    return Profile.objects.get(pk=profile.pk)


def probe(name: str = "A processor") -> dict[str, Any]:
    device = {"device": "cpu", "kind": "cpu", "name": name, "capacity_bytes": 8 * 2**30}
    return {"versions": VERSIONS, "devices": [device], "applicable": {}}


@pytest.mark.parametrize("ask", [run_again, run_recheck])
def test_it_is_asked_again_of_a_worker_of_the_same_device_which_may_claim_it(ask: Any) -> None:
    profile = left()
    fitting = make_worker(host="same")
    make_worker(device_name="Another processor", host="other")
    make_worker("cuda:0", host="gpu")
    run = ask(profile=profile, user=make_user())
    claim = run_claim(worker=fitting)
    assert run.worker == fitting and claim and claim.run_id == run.pk
    profile.refresh_from_db()
    assert profile.worker == fitting


def test_a_worker_that_is_alive_goes_before_a_silent_one() -> None:
    silent = make_worker(host="silent", seen_at=timezone.now() - LONG_AGO)
    assert run_again(profile=left(), user=None).worker == silent
    alive = make_worker(host="alive")
    assert run_again(profile=left(), user=None).worker == alive


def test_one_that_has_not_said_yet_what_it_is_will_do() -> None:
    worker = make_worker(device_name="CPU", versions={})
    assert run_again(profile=left(), user=None).worker == worker


def test_where_no_device_s_name_is_known_the_device_is_enough() -> None:
    worker = make_worker(device_name="Another processor")
    assert run_again(profile=left(""), user=None).worker == worker


@pytest.mark.parametrize(
    ("name", "said"), [("A processor", "cpu of A processor is connected"), ("", "cpu is connected")]
)
def test_without_any_that_fits_it_is_refused_and_the_device_named(name: str, said: str) -> None:
    make_worker("cuda:0")
    with pytest.raises(Refusal, match=f"^No worker for {said}") as refused:
        run_again(profile=left(name), user=None)
    assert refused.value.code == "no_worker"


def test_a_worker_that_says_what_it_is_takes_those_of_its_device_and_tells_whether_they_hold() -> None:
    fresh, stale, other = left(), left(versions=OLDER), left("Another processor")
    worker = make_worker(versions={})
    worker_probed(name=worker.name, probe=probe())
    for profile in (fresh, stale, other):
        profile.refresh_from_db()
    assert (fresh.worker, stale.worker, other.worker) == (worker, worker, None)
    assert (fresh.freshness, stale.freshness) == (Freshness.FRESH, Freshness.STALE)
    assert stale.differences[0]["was"] == "4.1.0"


def test_an_answer_that_no_longer_holds_is_known_when_it_is_asked_again() -> None:
    profile = left(versions=OLDER)
    make_worker()
    run_recheck(profile=profile, user=None)
    assert Profile.objects.get().freshness == Freshness.STALE
