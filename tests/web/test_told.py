from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from jobs.models import Notice, Profile, Role, Run
from jobs.services.webhook import WebhookFailed
from jobs.web.views import told
from tests.factories import make_user

HOOK = "https://hooks.example.org/services/se-cret"


@pytest.fixture
def profile(answered: int, member: User) -> Profile:
    Profile.objects.update(owner=member)
    return Run.objects.get(pk=answered).profile


def post(client: Client, profile: Profile, name: str = "profile-notify", **given: str) -> str:
    return client.post(reverse(name, args=[profile.pk]), {"notify": "changed"} | given, follow=True).content.decode()


def test_the_owner_s_choice_is_kept_and_the_webhook_shown_by_its_host(signed_in: Client, profile: Profile) -> None:
    page = post(signed_in, profile, webhook=HOOK)
    assert "Goes to <b>hooks.example.org</b>" in page and "se-cret" not in page
    profile.refresh_from_db()
    assert (profile.notify, profile.webhook) == ("changed", HOOK)


def test_an_empty_address_keeps_the_webhook_and_forgetting_takes_it(signed_in: Client, profile: Profile) -> None:
    post(signed_in, profile, webhook=HOOK)
    post(signed_in, profile, notify="always")
    assert Profile.objects.get().webhook == HOOK
    post(signed_in, profile, forget="on")
    assert Profile.objects.get().webhook == ""


@pytest.mark.parametrize(
    "given", [{"webhook": "http://hooks.example.org/x"}, {"webhook": "https://10.0.0.1/"}, {"notify": "sometimes"}]
)
def test_what_cannot_be_is_refused_with_a_sentence(signed_in: Client, profile: Profile, given: dict[str, str]) -> None:
    assert "note-bad" in post(signed_in, profile, **given)
    profile.refresh_from_db()
    assert (profile.notify, profile.webhook) == ("never", "")


@pytest.mark.parametrize(
    ("fails", "words"),
    [
        ("", "Saved. The test arrived: hooks.example.org answered 200 OK."),
        ("No.", "Saved. The test did not arrive. No."),
    ],
)
def test_a_test_says_what_came_back(
    signed_in: Client, profile: Profile, monkeypatch: pytest.MonkeyPatch, fails: str, words: str
) -> None:
    tried: list[str] = []

    def send(*, address: str, **_: Any) -> str:
        tried.append(address)
        if fails:
            raise WebhookFailed(fails)
        return "200 OK"

    monkeypatch.setattr(told, "webhook_try", send)
    assert words in post(signed_in, profile, "profile-notify-test", webhook=HOOK)
    assert tried == [HOOK] == [Profile.objects.get().webhook]


def test_without_a_webhook_there_is_nothing_to_try_and_the_choice_is_saved(signed_in: Client, profile: Profile) -> None:
    page = post(signed_in, profile, "profile-notify-test")
    assert "Saved. There is no webhook to try: give its address." in page
    assert "Save and try the webhook" in page
    assert Profile.objects.get().notify == "changed"


def test_an_address_of_this_machine_is_refused_for_not_being_public(signed_in: Client, profile: Profile) -> None:
    page = post(signed_in, profile, "profile-notify-test", webhook="https://127.0.0.1/hook")
    assert "This address is not public: a webhook must lead to a public address." in page
    assert "Saved." not in page and Profile.objects.get().notify == "never"


def test_others_see_whether_and_how_it_is_told_and_change_nothing(
    signed_in: Client, profile: Profile, settings: Any
) -> None:
    post(signed_in, profile, webhook=HOOK)
    Notice.objects.create(
        run=profile.runs.get(), channel="webhook", to=HOOK, state="failed", error="hooks.example.org answered 500."
    )
    other = Client()
    other.force_login(make_user("eve", Role.MEMBER), backend="django.contrib.auth.backends.ModelBackend")
    page = other.get(reverse("profile", args=[profile.pk])).content.decode()
    assert "Webhook: hooks.example.org" in page and "answered 500" in page
    assert "Save and try the webhook" not in page and "se-cret" not in page
    for name in ("profile-notify", "profile-notify-test"):
        assert other.post(reverse(name, args=[profile.pk]), {"notify": "never"}).status_code == 403
        assert signed_in.post(reverse(name, args=[99999]), {"notify": "never"}).status_code == 404
