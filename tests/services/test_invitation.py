from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from jobs.models import Deed, Invitation, Role
from jobs.selectors.invitation import invitation_of, invitations_open
from jobs.selectors.permission import role_of
from jobs.selectors.token import token_hash
from jobs.services.invitation import account_join, invitation_make, invitation_revoke
from jobs.services.team import account_end, role_change
from jobs.sizing.refusal import Refusal
from tests.factories import make_user
from tests.services.threads import at_once

pytestmark = pytest.mark.django_db
PASSWORD = "a long enough passphrase"


@pytest.fixture
def admin() -> User:
    return make_user("root", Role.ADMIN)


def join(token: str, username: str = "bob", password: str = PASSWORD) -> User:
    return account_join(token=token, username=username, password=password)


def test_only_the_hash_of_an_invitation_s_token_is_kept(admin: User) -> None:
    token = invitation_make(user=admin, role=Role.MEMBER, note="Bob of search")
    row = Invitation.objects.get()
    assert row.token_sha256 == token_hash(token) and token not in str(vars(row))
    assert timedelta(days=6.9) < row.expires_at - timezone.now() <= timedelta(days=7)
    assert token not in str(list(Deed.objects.values()))


@pytest.mark.parametrize(("role", "flags"), [(Role.VIEWER, False), (Role.MEMBER, False), (Role.ADMIN, True)])
def test_who_joins_has_the_invited_role_and_django_agrees(admin: User, role: Role, flags: bool) -> None:
    user = join(invitation_make(user=admin, role=role))
    assert (role_of(user), user.is_staff, user.is_superuser) == (role, flags, flags)
    assert Invitation.objects.get().used_by == user
    assert list(Deed.objects.values_list("who", "what").order_by("pk")) == [("root", "invited"), ("bob", "joined")]


def test_an_unknown_a_used_a_revoked_and_an_expired_one_are_refused_alike(admin: User) -> None:
    used, revoked, expired = (invitation_make(user=admin, role=Role.MEMBER) for _ in range(3))
    join(used)
    invitation_revoke(user=admin, invitation=Invitation.objects.get(token_sha256=token_hash(revoked)))
    Invitation.objects.filter(token_sha256=token_hash(expired)).update(expires_at=timezone.now())
    told = set()
    for token in ("guess", "", "\x00", "\udc80", used, revoked, expired):
        assert invitation_of(token) is None
        with pytest.raises(Refusal) as caught:
            join(token, "eve")
        told.add(str(caught.value.as_json()))
    assert len(told) == 1 and not invitations_open().exists() and User.objects.count() == 2


def test_a_revoked_invitation_is_not_revoked_twice(admin: User) -> None:
    invitation_make(user=admin, role=Role.MEMBER, note="Bob")
    row = Invitation.objects.get()
    assert [invitation_revoke(user=admin, invitation=row) for _ in range(2)] == [True, False]
    assert Deed.objects.filter(what="revoked").get().on == "the invitation of Bob"


@pytest.mark.parametrize(
    ("username", "password", "code"),
    [("root", PASSWORD, "bad_username"), ("a b", PASSWORD, "bad_username"), ("bob", "12345678", "weak_password")],
)
def test_an_unfit_account_leaves_the_invitation_good(admin: User, username: str, password: str, code: str) -> None:
    token = invitation_make(user=admin, role=Role.MEMBER)
    with pytest.raises(Refusal) as caught:
        join(token, username, password)
    assert caught.value.code == code
    assert join(token)


@pytest.mark.parametrize("days", [0, 31])
def test_an_invitation_holds_for_a_day_to_a_month(admin: User, days: int) -> None:
    with pytest.raises(Refusal):
        invitation_make(user=admin, role=Role.MEMBER, days=days)


@pytest.mark.django_db(transaction=True)
def test_of_two_at_once_one_joins() -> None:
    token = invitation_make(user=make_user("root", Role.ADMIN), role=Role.MEMBER)
    made = at_once(lambda: join(token, "bob"), lambda: join(token, "eve"))
    assert sorted(type(one).__name__ for one in made) == ["Refusal", "User"]
    assert User.objects.count() == 2


@pytest.mark.parametrize("put_out", ["ended", "lowered"])
def test_whoever_was_put_out_leaves_no_invitation_to_come_back_by(admin: User, put_out: str) -> None:
    other = make_user("other", Role.ADMIN)
    token = invitation_make(user=other, role=Role.ADMIN)
    assert invitation_of(token) is not None
    if put_out == "ended":
        account_end(by=admin, user=other)
    else:
        role_change(by=admin, user=other, role=Role.MEMBER)
    assert invitation_of(token) is None and not invitations_open()
    with pytest.raises(Refusal, match="unknown, used, revoked or expired"):
        account_join(token=token, username="again", password="correct horse battery")
    assert not User.objects.filter(username="again").exists()
