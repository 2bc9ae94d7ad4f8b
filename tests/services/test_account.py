import hashlib

import pytest
from django.contrib.auth.models import User

from jobs.models import SetupLink
from jobs.services.account import account_make_first, setup_link_make
from jobs.sizing.refusal import Refusal
from tests.factories import make_user
from tests.services.threads import at_once

PASSWORD = "a long enough passphrase"


@pytest.mark.django_db
def test_only_the_token_s_hash_is_kept() -> None:
    token = setup_link_make()
    link = SetupLink.objects.get()
    assert link.token_sha256 == hashlib.sha256(token.encode()).hexdigest()
    assert token not in str(vars(link))


@pytest.mark.django_db
def test_the_first_account_may_administer() -> None:
    user = account_make_first(token=setup_link_make(), username="ada", password=PASSWORD)
    assert user.is_staff and user.is_superuser and user.check_password(PASSWORD)


@pytest.mark.django_db
def test_a_newer_link_voids_the_one_before() -> None:
    first = setup_link_make()
    second = setup_link_make()
    with pytest.raises(Refusal, match="unknown"):
        account_make_first(token=first, username="ada", password=PASSWORD)
    assert account_make_first(token=second, username="ada", password=PASSWORD)


@pytest.mark.django_db
@pytest.mark.parametrize("token", ["", "guess", "x" * 10_000, "\x00"])
def test_a_guessed_token_makes_nothing(token: str) -> None:
    setup_link_make()
    with pytest.raises(Refusal) as caught:
        account_make_first(token=token, username="ada", password=PASSWORD)
    assert caught.value.code == "setup_link_void"
    assert not User.objects.exists()


@pytest.mark.django_db
def test_a_link_is_void_once_there_is_an_account() -> None:
    token = setup_link_make()
    make_user()
    with pytest.raises(Refusal):
        account_make_first(token=token, username="ada", password=PASSWORD)
    assert User.objects.count() == 1


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("username", "password", "code"),
    [("", PASSWORD, "bad_username"), ("a b", PASSWORD, "bad_username"), ("ada", "12345678", "weak_password")],
)
def test_an_unfit_account_leaves_the_link_good(username: str, password: str, code: str) -> None:
    token = setup_link_make()
    with pytest.raises(Refusal) as caught:
        account_make_first(token=token, username=username, password=password)
    assert caught.value.code == code and caught.value.hint
    assert account_make_first(token=token, username="ada", password=PASSWORD)


@pytest.mark.django_db(transaction=True)
def test_of_two_at_once_one_gets_the_account() -> None:
    token = setup_link_make()
    made = at_once(
        *(
            lambda name=name: account_make_first(token=token, username=name, password=PASSWORD)
            for name in ("ada", "bob")
        )
    )
    assert sorted(type(one).__name__ for one in made) == ["Refusal", "User"]
    assert User.objects.count() == 1
