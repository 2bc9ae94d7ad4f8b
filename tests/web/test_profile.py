import pytest
from django.test import Client
from django.urls import reverse

from jobs.models import Profile, Run
from tests.browser import demo


@pytest.fixture
def profile(answered: int) -> Profile:
    return Run.objects.get(pk=answered).profile


def test_it_shows_the_question_the_answer_and_the_runs(signed_in: Client, profile: Profile) -> None:
    page = signed_in.get(reverse("profile", args=[profile.pk])).content.decode()
    for words in ("prompt up to 4,096, answer 256", "340 MiB, 5 % kept free", "3,968", "architecture only"):
        assert words in page
    assert reverse("run", args=[profile.runs.get().pk]) in page


def test_the_answer_is_the_latest_answered_runs(signed_in: Client, profile: Profile) -> None:
    signed_in.post(reverse("run-again", args=[profile.pk]))
    answer = signed_in.get(reverse("profile", args=[profile.pk]))
    assert answer.context["answer"].context == 3968
    assert [row.state for row in answer.context["runs"]] == ["queued", "done"]


def test_without_an_answer_it_points_to_the_run(signed_in: Client) -> None:
    run = Run.objects.get(pk=demo.submit())
    page = signed_in.get(reverse("profile", args=[run.profile_id])).content.decode()
    assert "The first answer is being measured" in page


def test_running_it_again_is_a_new_run_of_the_same_question(signed_in: Client, profile: Profile) -> None:
    answer = signed_in.post(reverse("run-again", args=[profile.pk]))
    again = profile.runs.order_by("-pk").first()
    assert again
    assert answer.headers["Location"] == reverse("run", args=[again.pk])
    assert again.question == profile.question


def test_without_its_worker_it_cannot_run_again_and_says_so(signed_in: Client, profile: Profile) -> None:
    Profile.objects.update(worker=None)
    page = signed_in.post(reverse("run-again", args=[profile.pk]), follow=True).content.decode()
    assert "is gone" in page
    assert profile.runs.count() == 1


def test_a_stranger_is_sent_to_sign_in(client: Client, profile: Profile) -> None:
    assert client.get(reverse("profile", args=[profile.pk])).status_code == 302
    assert client.post(reverse("run-again", args=[profile.pk])).status_code == 302
    assert profile.runs.count() == 1


def test_wrong_methods_are_refused(signed_in: Client, profile: Profile) -> None:
    assert signed_in.post(reverse("profile", args=[profile.pk])).status_code == 405
    assert signed_in.get(reverse("run-again", args=[profile.pk])).status_code == 405


def test_a_missing_profile_is_not_found(signed_in: Client) -> None:
    assert signed_in.get(reverse("profile", args=[999])).status_code == 404
    assert signed_in.post(reverse("run-again", args=[999])).status_code == 404
