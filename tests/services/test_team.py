import pytest
from django.contrib.auth.models import User
from django.contrib.auth.tokens import default_token_generator
from django.test import Client

from jobs.models import Deed, Role
from jobs.selectors.account import session_user
from jobs.selectors.permission import Act, may, role_of
from jobs.selectors.team import administrators, members_list
from jobs.services.team import account_end, account_restore, password_link_make, role_change
from jobs.sizing.refusal import Refusal
from tests.factories import make_user
from tests.services.threads import at_once

pytestmark = pytest.mark.django_db


@pytest.fixture
def admin() -> User:
    return make_user("root", Role.ADMIN, is_staff=True, is_superuser=True)


def test_a_role_change_acts_at_once_and_django_s_flags_follow(admin: User) -> None:
    bob = make_user("bob", Role.VIEWER)
    for role, flags in ((Role.ADMIN, True), (Role.MEMBER, False)):
        role_change(by=admin, user=bob, role=role)
        bob = User.objects.get(pk=bob.pk)
        assert (role_of(bob), bob.is_staff, bob.is_superuser) == (role, flags, flags)
    assert may(bob, Act.ASK) and not may(bob, Act.ADMINISTER)
    assert [deed.about for deed in Deed.objects.filter(what="changed the role of").order_by("pk")] == [
        "to admin",
        "to member",
    ]


def test_a_role_that_stays_is_no_deed(admin: User) -> None:
    role_change(by=admin, user=make_user("bob"), role=Role.MEMBER)
    assert not Deed.objects.exists()


@pytest.mark.parametrize("deed", ["role", "end"])
def test_the_last_administrator_who_is_active_stays(admin: User, deed: str) -> None:
    make_user("gone", Role.ADMIN, is_superuser=True, is_active=False)
    with pytest.raises(Refusal) as caught:
        if deed == "role":
            role_change(by=admin, user=admin, role=Role.VIEWER)
        else:
            account_end(by=admin, user=admin)
    assert caught.value.code == "last_admin"
    assert list(administrators()) == [admin]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("ends", [True, False])
def test_of_the_last_two_administrators_at_once_one_stays(ends: bool) -> None:
    first, second = make_user("first", Role.ADMIN), make_user("second", Role.ADMIN, is_superuser=True)
    calls = [
        lambda: account_end(by=first, user=second) if ends else role_change(by=first, user=second, role=Role.MEMBER),
        lambda: role_change(by=second, user=first, role=Role.VIEWER),
    ]
    made = at_once(*calls)
    assert sorted(type(one).__name__ for one in made) == ["Refusal", "User"]
    assert administrators().count() == 1


def test_an_ended_account_is_signed_out_everywhere_and_comes_back_with_its_role(admin: User) -> None:
    bob, browsers = make_user("bob"), [Client(), Client()]
    for browser in browsers:
        browser.force_login(bob)
    keys = [str(browser.session.session_key) for browser in browsers]
    assert [session_user(key) for key in keys] == [bob, bob]
    account_end(by=admin, user=bob)
    account_end(by=admin, user=bob)
    account_restore(by=admin, user=bob)
    assert [session_user(key) for key in keys] == [None, None]
    assert role_of(User.objects.get(pk=bob.pk)) == Role.MEMBER
    assert list(Deed.objects.values_list("what", flat=True).order_by("pk")) == ["ended", "reopened"]


def test_a_password_link_is_of_that_member_and_not_for_an_ended_account(admin: User) -> None:
    bob = make_user("bob")
    _, token = password_link_make(by=admin, user=bob)
    assert default_token_generator.check_token(bob, token) and not default_token_generator.check_token(admin, token)
    account_end(by=admin, user=bob)
    with pytest.raises(Refusal):
        password_link_make(by=admin, user=User.objects.get(pk=bob.pk))


def test_the_list_takes_one_query_however_long(admin: User, django_assert_num_queries: object) -> None:
    for number in range(10):
        make_user(f"m{number}")
    make_user("aaa", is_active=False)
    with django_assert_num_queries(1):  # type: ignore[operator]
        names = [(member.username, role_of(member)) for member in members_list()]
    assert names[0] == ("m0", Role.MEMBER) and names[-1][0] == "aaa"
