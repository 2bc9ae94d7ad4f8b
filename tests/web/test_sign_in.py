import pytest
from axes.models import AccessAttempt
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

SIGN_IN = reverse("sign-in")


def enter(client: Client, password: str, **fields: str) -> int:
    return client.post(SIGN_IN, {"username": "ada", "password": password, **fields}).status_code


def test_the_right_password_opens_home(client: Client, member: User) -> None:
    answer = client.post(SIGN_IN, {"username": "ada", "password": "correct horse"})
    assert answer.headers["Location"] == reverse("home")


def test_a_wrong_password_is_refused_with_a_sentence(client: Client, member: User) -> None:
    answer = client.post(SIGN_IN, {"username": "ada", "password": "wrong"})
    assert "This user name and password do not go together." in answer.content.decode()


def test_after_signing_in_no_other_site_is_opened(client: Client, member: User) -> None:
    answer = client.post(SIGN_IN, {"username": "ada", "password": "correct horse", "next": "https://evil.example/"})
    assert answer.headers["Location"] == reverse("home")


def test_ten_wrong_passwords_lock_the_eleventh_out(client: Client, member: User) -> None:
    statuses = [enter(client, "wrong") for _ in range(10)]
    assert statuses[-1] == 429
    locked = client.post(SIGN_IN, {"username": "ada", "password": "correct horse"})
    assert locked.status_code == 429
    assert "Too many tries" in locked.content.decode()


def test_signing_out_takes_a_post(signed_in: Client) -> None:
    assert signed_in.get(reverse("sign-out")).status_code == 405
    assert signed_in.post(reverse("sign-out")).headers["Location"] == SIGN_IN
    assert signed_in.get(reverse("home")).status_code == 302


@pytest.mark.django_db
def test_a_stranger_sees_the_form_without_the_navigation(client: Client) -> None:
    page = client.get(SIGN_IN).content.decode()
    assert "Password" in page
    assert "Sign out" not in page


@pytest.mark.django_db
@pytest.mark.parametrize("address", [SIGN_IN, "/admin/login/"])
def test_a_name_longer_than_any_account_s_is_refused_like_a_wrong_one(client: Client, address: str) -> None:
    answer = client.post(address, {"username": "a" * 5000, "password": "x"})
    assert answer.status_code == 200
    failures = AccessAttempt.objects.values_list("username", flat=True)
    assert all(len(name) <= 150 for name in failures)
    assert failures
