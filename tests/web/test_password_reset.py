import re
from typing import Any

import pytest
from django.core import mail
from django.core.cache import cache
from django.test import Client
from django.urls import reverse

from jobs.services import wake
from jobs.services.password_reset import password_reset_mail
from tests.factories import make_user

pytestmark = pytest.mark.django_db
ASK = reverse("reset-ask")


@pytest.fixture(autouse=True)
def handed_on(settings: Any, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The addresses that a worker was asked to mail, which it does at once."""
    settings.EMAIL_URL, settings.PUBLIC_URL = "smtp://mail.example.org", "https://kv.example.org"
    cache.clear()
    asked: list[str] = []

    def send(task: str, args: list[str], **_: Any) -> None:
        asked.extend(args)
        password_reset_mail(*args)

    monkeypatch.setattr(wake.app, "send_task", send)
    return asked


def test_a_known_address_and_an_unknown_one_are_answered_alike(client: Client, handed_on: list[str]) -> None:
    make_user("ada", email="ada@example.org")
    known, unknown = (client.post(ASK, {"email": f"{name}@example.org"}) for name in ("ada", "eve"))
    assert known.content == unknown.content and known.status_code == unknown.status_code == 200
    assert handed_on == ["ada@example.org", "eve@example.org"]
    assert [message.to for message in mail.outbox] == [["ada@example.org"]]


def test_the_link_is_of_the_public_address_whatever_the_host_header_says(client: Client, settings: Any) -> None:
    settings.ALLOWED_HOSTS = ["*"]
    make_user("ada", email="ada@example.org")
    client.post(ASK, {"email": "ada@example.org"}, headers={"host": "evil.example"})
    text = f"{mail.outbox[0].subject} {mail.outbox[0].body}"
    assert "evil" not in text
    (link,) = re.findall(r"https://kv\.example\.org(/reset/\S+)", text)
    assert "Choose a new password" in client.get(link, follow=True).content.decode()


def test_an_ended_account_is_mailed_nothing(client: Client) -> None:
    make_user("ada", email="ada@example.org", is_active=False)
    client.post(ASK, {"email": "ada@example.org"})
    assert not mail.outbox


def test_nobody_is_mailed_again_within_five_minutes(client: Client) -> None:
    make_user("ada", email="ada@example.org")
    for _ in range(3):
        client.post(ASK, {"email": "ADA@example.org"})
    assert len(mail.outbox) == 1


def test_where_nothing_can_be_handed_on_it_says_so_and_may_be_asked_again(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise OSError

    monkeypatch.setattr(wake.app, "send_task", fail)
    assert [client.post(ASK, {"email": "ada@example.org"}).status_code for _ in range(2)] == [503, 503]


def test_without_a_mail_server_there_is_no_such_page_and_no_link_to_it(client: Client, settings: Any) -> None:
    assert ASK in client.get(reverse("sign-in")).content.decode()
    settings.EMAIL_URL = ""
    assert client.get(ASK).status_code == client.post(ASK, {"email": "a@b.org"}).status_code == 404
    assert ASK not in client.get(reverse("sign-in")).content.decode()
