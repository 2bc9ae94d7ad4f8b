"""The page of an answer that was kept by the command line, and of one whose worker is gone."""

from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse

from jobs.models import Profile, Run, Worker
from tests.answered import answered_run
from tests.factories import make_profile, make_user, make_worker


@pytest.fixture
def kept(db: None) -> Profile:
    """Without a worker, after 90 seconds."""
    run = Run.objects.get(pk=answered_run())
    Worker.objects.all().delete()
    assert run.finished_at
    Run.objects.update(started_at=run.finished_at - timedelta(seconds=90))
    return Profile.objects.get()


def page_of(client: Client, profile: Profile) -> str:
    return client.get(reverse("profile", args=[profile.pk])).content.decode()


def test_it_says_who_kept_it_and_how_long_it_took(signed_in: Client, kept: Profile) -> None:
    page = page_of(signed_in, kept)
    assert "kept by the command line, " in page and "someone who left" not in page
    assert '<td data-label="By">the command line</td>' in page
    assert "1 min 30 s" in page
    form = signed_in.get(reverse("profile-new"), {"from": kept.pk}).content.decode()
    assert "(kept by the command line, " in form


def test_without_a_worker_it_does_not_call_what_is_installed_unchanged(signed_in: Client, kept: Profile) -> None:
    page = page_of(signed_in, kept)
    assert "What is installed on its device now is not known" in page
    assert "Nothing that this answer rests on is known to have changed." not in page


@pytest.mark.parametrize("deed", ["recheck", "run-again"])
def test_it_is_rechecked_and_run_again_on_a_worker_of_its_device(signed_in: Client, kept: Profile, deed: str) -> None:
    address = reverse(deed, args=[kept.pk])
    assert f'action="{address}"' in page_of(signed_in, kept)
    refused = signed_in.post(address, follow=True).content.decode()
    named = kept.answer_run.device["name"] if kept.answer_run else ""
    assert f"No worker for {kept.question['device']} of {named} is connected." in refused
    worker = make_worker(kept.question["device"], device_name=named)
    signed_in.post(address)
    assert Run.objects.latest("pk").worker == worker


def test_a_question_of_someone_and_of_someone_who_left_say_so(signed_in: Client) -> None:
    profile = make_profile(owner=make_user("grace"))
    assert "asked by grace, " in page_of(signed_in, profile)
    Profile.objects.update(owner=None)
    assert "asked by someone who left, " in page_of(signed_in, profile)
