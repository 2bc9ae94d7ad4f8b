"""Tokens of programs: told once, kept as a hash, revoked by their owner or an administrator."""

from datetime import timedelta

import pytest
from django.core.management import load_command_class
from django.utils import timezone

from jobs.models import ApiToken, Deed, Role, TokenScope
from jobs.selectors.api_token import api_token_find, api_tokens_of, api_tokens_of_others
from jobs.services.api_token import api_token_make, api_token_revoke, api_token_used
from jobs.sizing.refusal import Refusal
from tests.factories import make_user

pytestmark = pytest.mark.django_db


def made(user: object = None, **fields: object) -> tuple[ApiToken, str]:
    user = user or make_user()
    text = api_token_make(**({"user": user, "name": "ci", "scope": TokenScope.READ, "by": user} | fields))  # type: ignore[arg-type]
    return ApiToken.objects.latest("pk"), text


def test_a_token_is_of_256_bits_and_only_its_hash_is_kept() -> None:
    token, text = made()
    assert text.startswith("kvp_")
    assert len(text) == len("kvp_") + 43
    assert token.start == text[:8]
    assert text not in str(ApiToken.objects.values())
    assert made()[1] != text


def test_a_token_is_found_until_it_is_revoked_or_its_account_ends() -> None:
    token, text = made()
    found = api_token_find(text)
    assert found == token
    assert api_token_find(text + "x") is None
    token.user.is_active = False
    token.user.save()
    assert api_token_find(text) is None
    token.user.is_active = True
    token.user.save()
    api_token_revoke(token=token, user=token.user)
    assert api_token_find(text) is None


def test_a_deed_says_who_made_and_who_revoked_it() -> None:
    admin, user = make_user(role=Role.ADMIN), make_user("ada")
    token, _ = made(user)
    api_token_revoke(token=token, user=admin)
    api_token_revoke(token=token, user=admin)
    deeds = list(Deed.objects.order_by("pk").values_list("who", "what"))
    assert deeds == [("ada", "made a token"), (admin.username, "revoked")]
    made(user, by=None)
    assert Deed.objects.latest("pk").who == "the command line"


def test_only_the_owner_or_an_administrator_revokes() -> None:
    token, text = made(make_user(role=Role.VIEWER))
    with pytest.raises(Refusal) as refused:
        api_token_revoke(token=token, user=make_user())
    assert refused.value.code == "not_yours"
    assert api_token_find(text) is not None
    api_token_revoke(token=token, user=token.user)
    assert api_token_find(text) is None


@pytest.mark.parametrize("name", ["", "  ", "x" * 81, "a\0b", "a\nb"])
def test_a_name_that_cannot_be_printed_is_refused(name: str) -> None:
    with pytest.raises(Refusal):
        made(name=name)
    assert not ApiToken.objects.exists()


def test_its_use_is_noted_once_a_minute() -> None:
    token, _ = made()
    api_token_used(token=token)
    token.refresh_from_db()
    first = token.used_at
    assert first is not None
    api_token_used(token=token)
    token.refresh_from_db()
    assert token.used_at == first
    ApiToken.objects.update(used_at=timezone.now() - timedelta(minutes=2))
    token.refresh_from_db()
    api_token_used(token=token)
    token.refresh_from_db()
    assert token.used_at is not None
    assert token.used_at > first


def test_lists_have_ones_own_with_the_revoked_last_and_of_others_what_is_good() -> None:
    token, _ = made()
    later, _ = made(token.user)
    api_token_revoke(token=later, user=token.user)
    others, _ = made()
    gone, _ = made()
    api_token_revoke(token=gone, user=gone.user)
    assert list(api_tokens_of(token.user)) == [token, later]
    assert list(api_tokens_of_others(token.user)) == [others]


@pytest.fixture
def kept_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """A command ends by closing the connections, and with them the test's transaction."""
    monkeypatch.setattr("django.core.management.base.connections.close_all", lambda: None)


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    try:
        load_command_class("jobs", "token").run_from_argv(["manage.py", "token", *arguments])
        code = 0
    except SystemExit as end:
        code = int(end.code or 0)
    printed = capsys.readouterr()
    return code, printed.out, printed.err


@pytest.mark.usefixtures("kept_open")
def test_the_command_prints_a_token_alone(capsys: pytest.CaptureFixture[str]) -> None:
    user = make_user("ada")
    code, out, err = run(capsys, "ada", "--scope", "write", "--name", "nightly")
    token = api_token_find(out.strip())
    assert (code, err) == (0, "")
    assert token is not None
    assert (token.user, token.scope, token.name) == (user, "write", "nightly")


@pytest.mark.usefixtures("kept_open")
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["nobody", "--scope", "read"], "unknown_user"),
        (["closed", "--scope", "read"], "unknown_user"),
        (["ada\0", "--scope", "all"], "bad_arguments"),
        (["ada"], "bad_arguments"),
        (["ada", "--scope", "read", "--name", ""], "bad_name"),
    ],
)
def test_the_command_refuses_with_exit_code_2(
    capsys: pytest.CaptureFixture[str], arguments: list[str], code: str
) -> None:
    make_user("ada")
    make_user("closed", is_active=False)
    returned, out, _ = run(capsys, *arguments, "--json")
    assert (returned, f'"{code}"' in out) == (2, True)
    assert not ApiToken.objects.exists()
