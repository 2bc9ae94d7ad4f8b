import pytest
from django.test import Client

from jobs.selectors.account import account_exists, session_user
from tests.factories import make_user

pytestmark = pytest.mark.django_db


def test_a_session_names_its_user_until_signed_out(client: Client) -> None:
    user = make_user()
    assert account_exists()
    client.force_login(user)
    key = client.session.session_key
    assert session_user(key) == user
    client.logout()
    assert session_user(key) is None


def test_a_new_password_ends_a_session(client: Client) -> None:
    user = make_user()
    client.force_login(user)
    user.set_password("another one")
    user.save()
    assert session_user(client.session.session_key) is None


def test_an_inactive_user_s_session_is_over(client: Client) -> None:
    user = make_user()
    client.force_login(user)
    user.is_active = False
    user.save()
    assert session_user(client.session.session_key) is None


@pytest.mark.parametrize("key", [None, "", "unknown"])
def test_no_session_is_nobody_s(key: str | None) -> None:
    assert session_user(key) is None
    assert not account_exists()
