from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from jobs.models import Worker
from tests.browser import demo
from tests.factories import make_worker

WORKERS = reverse("workers")


def test_without_workers_it_says_how_to_start_one(signed_in: Client) -> None:
    assert "make run" in signed_in.get(WORKERS).content.decode()


def test_a_worker_shows_its_device_memory_versions_and_what_it_does(signed_in: Client) -> None:
    run = demo.begin("Runs now")
    demo.submit("Waits")
    page = signed_in.get(WORKERS).content.decode()
    for words in ("AMD EPYC 9454P", "64 GiB", "transformers 5.24.0", "Runs now", "1 run", "connected"):
        assert words in page
    assert reverse("run", args=[run]) in page


def test_a_strategy_that_does_not_apply_says_why(signed_in: Client) -> None:
    demo.worker()
    assert "not applicable: this device is a CPU: there is nowhere to offload to" in (
        signed_in.get(WORKERS).content.decode()
    )


def test_a_silent_worker_says_so(signed_in: Client) -> None:
    make_worker(seen_at=timezone.now() - timedelta(minutes=5))
    page = signed_in.get(WORKERS).content.decode()
    assert "silent" in page
    assert "connected" not in page


def test_a_worker_in_trouble_says_what_it_is(signed_in: Client) -> None:
    make_worker()
    Worker.objects.update(error={"code": "device_missing", "message": "The GPU is gone.", "hint": ""})
    assert "The GPU is gone." in signed_in.get(WORKERS).content.decode()


@pytest.mark.django_db
def test_a_stranger_is_sent_to_sign_in(client: Client) -> None:
    assert client.get(WORKERS).status_code == 302


def test_nothing_is_posted_here(signed_in: Client) -> None:
    assert signed_in.post(WORKERS).status_code == 405
