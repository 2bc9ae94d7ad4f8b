import pytest
from django.test import Client
from django.urls import reverse

from tests.browser import demo

HOME = reverse("home")


def test_an_unused_portal_says_what_to_do_first(signed_in: Client) -> None:
    page = signed_in.get(HOME).content.decode()
    assert "Connect a worker" in page
    assert "None is connected" in page
    assert "Ask the first question" in page
    assert "First steps" in page


def test_the_first_steps_are_gone_once_done(signed_in: Client, answered: int) -> None:
    assert "First steps" not in signed_in.get(HOME).content.decode()


def test_an_answer_shows_context_strategy_limit_and_device(signed_in: Client, answered: int) -> None:
    page = signed_in.get(HOME).content.decode()
    for words in ("Nightly summaries", "3,968", "quantized 4 bits (hqq)", "device memory", "AMD EPYC 9454P", "340 MiB"):
        assert words in page


def test_what_runs_now_says_its_stage_and_what_waits_its_place(signed_in: Client) -> None:
    running = demo.begin("Runs now")
    demo.tell(running, until="stage_finished")
    demo.submit("Waits")
    page = signed_in.get(HOME).content.decode()
    assert "Stage: baseline." in page
    assert "Number 2 in the queue." in page


@pytest.mark.django_db
def test_a_stranger_is_sent_to_sign_in(client: Client) -> None:
    answer = client.get(HOME)
    assert answer.status_code == 302
    assert answer.headers["Location"] == f"{reverse('sign-in')}?next={HOME}"


def test_nothing_is_posted_here(signed_in: Client) -> None:
    assert signed_in.post(HOME).status_code == 405
