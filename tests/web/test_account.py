from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from jobs.models import Membership, SignedIn
from jobs.services.session import sessions_sweep
from jobs.web import signed_in as keeping
from jobs.web.presenters.browsers import browser_name
from tests.factories import make_user

ACCOUNT = reverse("account")
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
BACKEND = "django.contrib.auth.backends.ModelBackend"


def enter(**headers: str) -> Client:
    browser = Client(**headers)
    assert browser.post(reverse("sign-in"), {"username": "ada", "password": "correct horse"}).status_code == 302
    return browser


def test_a_sign_in_is_listed_and_a_sign_out_takes_it_off(member: User) -> None:
    browser = enter(HTTP_USER_AGENT=FIREFOX)
    page = browser.get(ACCOUNT).content.decode()
    assert "Firefox on Linux" in page and "127.0.0.1" in page and "End all others" not in page
    browser.post(reverse("sign-out"))
    assert not SignedIn.objects.exists()


def test_when_a_session_was_seen_is_written_once_a_minute(
    signed_in: Client, monkeypatch: pytest.MonkeyPatch, django_assert_num_queries: object
) -> None:
    long_ago = timezone.now() - timedelta(days=1)
    SignedIn.objects.update(seen_at=long_ago)
    with django_assert_num_queries(3):  # type: ignore[operator]  (the session, the member, the role)
        signed_in.get(reverse("team") + "nowhere/")
    assert SignedIn.objects.get().seen_at == long_ago
    now = keeping.time.time()
    monkeypatch.setattr(keeping.time, "time", lambda: now + 61)
    signed_in.get(ACCOUNT)
    assert SignedIn.objects.get().seen_at > long_ago


def test_a_session_of_before_the_list_is_put_on_it(signed_in: Client) -> None:
    SignedIn.objects.all().delete()
    session = signed_in.session
    del session["seen"]
    session.save()
    signed_in.get(ACCOUNT)
    assert SignedIn.objects.get().session_key == session.session_key


def test_a_session_is_ended_from_another_browser(member: User) -> None:
    here, there = enter(), enter(HTTP_USER_AGENT=FIREFOX)
    row = SignedIn.objects.get(session_key=there.session.session_key)
    assert reverse("account-session-end", args=[row.pk]) in here.get(ACCOUNT).content.decode()
    here.post(reverse("account-session-end", args=[row.pk]))
    assert there.get(ACCOUNT).status_code == 302 and here.get(ACCOUNT).status_code == 200
    assert SignedIn.objects.count() == 1


def test_ending_the_session_one_is_in_signs_out(member: User) -> None:
    here = enter()
    answer = here.post(reverse("account-session-end", args=[SignedIn.objects.get().pk]))
    assert answer.headers["Location"] == reverse("sign-in")
    assert here.get(ACCOUNT).status_code == 302


def test_ending_all_others_ends_those_of_before_the_list_too(member: User) -> None:
    here, there, unlisted = enter(), enter(), enter()
    SignedIn.objects.filter(session_key=unlisted.session.session_key).delete()
    assert "2 other sessions" in here.post(reverse("account-sessions-end-others"), follow=True).content.decode()
    assert [one.get(ACCOUNT).status_code for one in (here, there, unlisted)] == [200, 302, 302]


def test_another_s_session_is_not_one_s_to_end(signed_in: Client) -> None:
    other = Client()
    other.force_login(make_user("eve"), backend=BACKEND)
    row = SignedIn.objects.get(user__username="eve")
    assert signed_in.post(reverse("account-session-end", args=[row.pk])).status_code == 403
    assert signed_in.post(reverse("account-session-end", args=[99999])).status_code == 404
    assert other.get(ACCOUNT).status_code == 200


def test_a_new_password_ends_every_session_but_this_one(member: User) -> None:
    here, there = enter(), enter()
    new = {"old_password": "correct horse", "new_password1": "better horse", "new_password2": "better horse"}
    assert "Every other session is ended" in here.post(reverse("account-password"), new, follow=True).content.decode()
    assert [one.get(ACCOUNT).status_code for one in (here, there)] == [200, 302]
    assert [row.session_key for row in SignedIn.objects.all()] == [here.session.session_key]


@pytest.mark.parametrize(
    "change",
    [{"old_password": "wrong"}, {"new_password2": "differs"}, {"new_password1": "1234", "new_password2": "1234"}],
)
def test_an_unfit_password_is_refused_beside_its_field(signed_in: Client, change: dict[str, str]) -> None:
    new = {"old_password": "correct horse", "new_password1": "better horse", "new_password2": "better horse"}
    assert 'class="error"' in signed_in.post(reverse("account-password"), new | change).content.decode()
    assert User.objects.get().check_password("correct horse")


def test_the_address_and_whether_to_be_told_are_kept(signed_in: Client, member: User) -> None:
    new = {"email": "ada@example.org"}
    for password in ({}, {"password_now": "a guess"}):
        page = signed_in.post(reverse("account-contact"), new | password).content.decode()
        assert "This is not your password" in page
        assert User.objects.get().email == ""
    signed_in.post(reverse("account-contact"), new | {"password_now": "correct horse"})
    assert User.objects.get().email == "ada@example.org"
    assert Membership.objects.get().email_told is False
    signed_in.post(reverse("account-contact"), new | {"email_told": "on"})
    assert Membership.objects.get().email_told is True, "that needs no password"
    assert 'class="error"' in signed_in.post(reverse("account-contact"), {"email": "nowhere"}).content.decode()


def test_rows_whose_session_is_over_are_swept(signed_in: Client) -> None:
    gone = Client()
    gone.force_login(make_user("eve"), backend=BACKEND)
    Session.objects.filter(session_key=gone.session.session_key).delete()
    assert sessions_sweep(now=timezone.now()) == 1
    assert SignedIn.objects.get().session_key == signed_in.session.session_key
    assert sessions_sweep(now=timezone.now() + timedelta(days=15)) == 1


@pytest.mark.parametrize(
    ("agent", "name"),
    [
        (FIREFOX, "Firefox on Linux"),
        ("Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/140.0 Safari/537.36 Edg/140.0", "Edge on Windows"),
        ("Mozilla/5.0 (iPhone; CPU iPhone OS 18 like Mac OS X) Version/18 Safari/604.1", "Safari on iPhone"),
        ("curl/8.5", "curl"),
        ("", "a browser"),
    ],
)
def test_a_browser_is_named_in_two_words(agent: str, name: str) -> None:
    assert browser_name(agent) == name
