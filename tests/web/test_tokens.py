"""The page of tokens: made, shown once, revoked by their owner or an administrator."""

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from jobs.models import ApiToken, Role, TokenScope
from jobs.selectors.api_token import api_token_find
from jobs.services.api_token import api_token_make
from tests.factories import make_user

PAGE = reverse("tokens")
pytestmark = pytest.mark.django_db


def made(user: User, name: str = "ci") -> ApiToken:
    api_token_make(user=user, name=name, scope=TokenScope.READ, by=user)
    return ApiToken.objects.latest("pk")


def test_a_token_is_shown_once_and_not_kept_by_a_browser(signed_in: Client, member: User) -> None:
    answer = signed_in.post(PAGE, {"name": "nightly", "scope": "write"})
    (text,) = re.findall(r"kvp_[\w-]{43}", answer.content.decode())
    found = api_token_find(text)
    assert found is not None
    assert (found.user, found.name, found.scope) == (member, "nightly", "write")
    assert "no-store" in answer.headers["Cache-Control"]
    again = signed_in.get(PAGE).content.decode()
    assert text not in again
    assert "nightly" in again and text[:8] in again


@pytest.mark.parametrize(
    ("sent", "sentence"),
    [
        ({"name": "", "scope": "read"}, "Give it a name"),
        ({"name": "x" * 81, "scope": "read"}, "at most 80"),
        ({"name": "x", "scope": "all"}, "Choose read, or read and write."),
        ({"name": "x"}, "Choose what it may do."),
    ],
)
def test_what_is_no_token_says_why(signed_in: Client, sent: dict[str, str], sentence: str) -> None:
    assert sentence in signed_in.post(PAGE, sent).content.decode()
    assert not ApiToken.objects.exists()


def test_its_owner_revokes_it_a_viewer_too(client: Client) -> None:
    viewer = make_user(role=Role.VIEWER)
    client.force_login(viewer, backend="django.contrib.auth.backends.ModelBackend")
    token = made(viewer)
    assert "your role reads only, so this one does too" in client.get(PAGE).content.decode()
    answer = client.post(reverse("token-revoke", args=[token.pk]), follow=True)
    assert "is revoked: nothing signs in with it any more" in answer.content.decode()
    token.refresh_from_db()
    assert token.revoked_at is not None


def test_anothers_is_not_shown_and_not_revoked(signed_in: Client) -> None:
    token = made(make_user("eve"), "secret plan")
    assert "secret plan" not in signed_in.get(PAGE).content.decode()
    assert signed_in.post(reverse("token-revoke", args=[token.pk])).status_code == 403
    assert signed_in.post(reverse("token-revoke", args=[token.pk + 1])).status_code == 404
    token.refresh_from_db()
    assert token.revoked_at is None


def test_an_administrator_sees_and_revokes_others(client: Client) -> None:
    client.force_login(make_user(role=Role.ADMIN), backend="django.contrib.auth.backends.ModelBackend")
    token = made(make_user("eve"), "left behind")
    page = client.get(PAGE).content.decode()
    assert "left behind" in page and "eve" in page
    assert client.post(reverse("token-revoke", args=[token.pk])).status_code == 302
    token.refresh_from_db()
    assert token.revoked_at is not None


def test_many_tokens_take_as_many_queries_as_few(
    signed_in: Client, member: User, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for _ in range(30):
        made(member)
    with django_assert_max_num_queries(6):
        signed_in.get(PAGE)
