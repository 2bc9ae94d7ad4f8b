import re

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from jobs.models import Deed, Invitation, Role
from jobs.selectors.permission import role_of
from tests.factories import make_user

TEAM = reverse("team")
INVITE = {"note": "Bob <of> search", "role": "viewer", "days": "3"}
GOOD = {"username": "bob", "email": "bob@example.org", "password": "correct horse", "again": "correct horse"}


@pytest.fixture
def admin(db: None) -> User:
    return make_user("root", Role.ADMIN, is_staff=True, is_superuser=True)


@pytest.fixture
def office(client: Client, admin: User) -> Client:
    """An administrator's browser."""
    client.force_login(admin, backend="django.contrib.auth.backends.ModelBackend")
    return client


def invited(office: Client, settings: object) -> str:
    settings.PUBLIC_URL = "https://kv.example.org"  # type: ignore[attr-defined]
    answer = office.post(reverse("team-invite"), INVITE)
    assert answer.headers["Cache-Control"].startswith("max-age=0, no-cache, no-store")
    found = re.search(r"https://kv\.example\.org(/join/[\w-]{43}/)", answer.content.decode())
    assert found
    return found[1]


def test_an_invitation_s_link_is_shown_once_and_makes_one_account(office: Client, settings: object) -> None:
    link = invited(office, settings)
    page = office.get(TEAM).content.decode()
    assert link not in page and "Bob &lt;of&gt; search" in page
    bob = Client()
    form = bob.get(link)
    assert "You are invited as viewer" in form.content.decode()
    assert "no-store" in form.headers["Cache-Control"] and "noindex" in form.headers["X-Robots-Tag"]
    assert bob.post(link, GOOD).headers["Location"] == reverse("home")
    user = User.objects.get(username="bob")
    assert (role_of(user), user.email) == (Role.VIEWER, "bob@example.org")
    assert bob.get(TEAM).status_code == 200
    assert Client().post(link, GOOD | {"username": "eve"}).status_code == 404


def test_unknown_used_revoked_and_expired_links_look_alike(office: Client, settings: object) -> None:
    used, revoked, expired = (invited(office, settings) for _ in range(3))
    Client().post(used, GOOD)
    first, last = Invitation.objects.filter(used_at=None).order_by("pk")
    answer = office.post(reverse("team-invitation-revoke", args=[first.pk]), follow=True)
    assert "no longer works" in answer.content.decode()
    Invitation.objects.filter(pk=last.pk).update(expires_at="2020-01-01T00:00Z")
    stranger = Client()
    answers = [stranger.get(link) for link in (used, revoked, expired, reverse("join", args=["unknown"]))]
    assert {one.status_code for one in answers} == {404}
    assert len({one.content for one in answers}) == 1
    assert {one.headers["Referrer-Policy"] for one in answers} == {"same-origin"}


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"again": "other"}, "The two passwords differ."),
        ({"username": "root"}, "already exists"),
        ({"password": "12345", "again": "12345"}, "too short"),
        ({"email": "nowhere"}, "valid email"),
    ],
)
def test_an_unfit_account_is_refused_beside_its_field(
    office: Client, settings: object, change: dict[str, str], sentence: str
) -> None:
    link = invited(office, settings)
    answer = Client().post(link, GOOD | change)
    assert answer.status_code == 200 and sentence in answer.content.decode()
    assert not Invitation.objects.get().used_at


@pytest.mark.parametrize("change", [{"role": "king"}, {"days": "0"}, {"days": "99"}, {"note": "x" * 121}])
def test_an_invitation_that_is_none_is_refused(office: Client, change: dict[str, str]) -> None:
    assert 'class="error"' in office.post(reverse("team-invite"), INVITE | change).content.decode()
    assert not Invitation.objects.exists()


def test_every_member_sees_the_team_and_only_administrators_its_buttons(office: Client) -> None:
    viewer = Client()
    viewer.force_login(make_user("val", Role.VIEWER), backend="django.contrib.auth.backends.ModelBackend")
    theirs, ours = viewer.get(TEAM).content.decode(), office.get(TEAM).content.decode()
    assert "root" in theirs and "val" in theirs
    for words in ("Make the link", "Password link", "team-role", "/role/"):
        assert words not in theirs
    assert "Make the link" in ours and "Password link" in ours


def test_a_new_role_acts_with_the_next_request(office: Client) -> None:
    bob, browser = make_user("bob", Role.VIEWER), Client()
    browser.force_login(bob, backend="django.contrib.auth.backends.ModelBackend")
    invite = reverse("team-invite")
    assert browser.post(invite, INVITE).status_code == 403
    office.post(reverse("team-role", args=[bob.pk]), {"role": "admin"})
    assert browser.post(invite, INVITE).status_code == 200
    assert browser.get("/admin/").status_code == 200
    office.post(reverse("team-role", args=[bob.pk]), {"role": "member"})
    assert browser.post(invite, INVITE).status_code == 403
    assert browser.get("/admin/").status_code == 302


@pytest.mark.parametrize(("name", "data"), [("team-role", {"role": "viewer"}), ("team-end", {})])
def test_the_last_administrator_stays_and_it_says_so(
    office: Client, admin: User, name: str, data: dict[str, str]
) -> None:
    page = office.post(reverse(name, args=[admin.pk]), data, follow=True).content.decode()
    assert "last administrator" in page and "the last one stays" in page
    assert role_of(User.objects.get(pk=admin.pk)) == Role.ADMIN


def test_an_unknown_role_changes_nothing(office: Client) -> None:
    bob = make_user("bob")
    office.post(reverse("team-role", args=[bob.pk]), {"role": "king"})
    assert role_of(User.objects.get(pk=bob.pk)) == Role.MEMBER


def test_an_ended_member_is_out_with_the_next_request_until_restored(office: Client) -> None:
    bob, browser = make_user("bob"), Client()
    browser.force_login(bob, backend="django.contrib.auth.backends.ModelBackend")
    assert browser.get(TEAM).status_code == 200
    assert "is ended" in office.post(reverse("team-end", args=[bob.pk]), follow=True).content.decode()
    assert browser.get(TEAM).status_code == 302
    told = browser.post(reverse("sign-in"), {"username": "bob", "password": "correct horse"})
    assert told.status_code == 200 and not browser.session.get("_auth_user_id")
    office.post(reverse("team-restore", args=[bob.pk]))
    assert browser.post(reverse("sign-in"), {"username": "bob", "password": "correct horse"}).status_code == 302


def test_a_password_link_changes_the_password_once_and_ends_the_sessions(office: Client, settings: object) -> None:
    settings.PUBLIC_URL = "https://kv.example.org"  # type: ignore[attr-defined]
    bob, browser, reader = make_user("bob"), Client(), Client()
    browser.force_login(bob, backend="django.contrib.auth.backends.ModelBackend")
    page = office.post(reverse("team-password-link", args=[bob.pk])).content.decode()
    (link,) = re.findall(r"https://kv\.example\.org(/reset/[\w-]+/[\w-]+/)", page)
    form = reader.get(link, follow=True)
    assert form.redirect_chain[-1][0].endswith("/set-password/"), "the token leaves the address"
    new = {"new_password1": "another horse", "new_password2": "another horse"}
    assert reader.post(form.redirect_chain[-1][0], new).headers["Location"] == reverse("sign-in")
    assert browser.get(TEAM).status_code == 302
    assert "This link does not work" in Client().get(link, follow=True).content.decode()
    assert User.objects.get(pk=bob.pk).check_password("another horse")
    assert Deed.objects.filter(who="bob", what="changed the password of").exists()


def test_a_link_of_an_account_that_was_ended_since_is_none(office: Client) -> None:
    bob = make_user("bob")
    page = office.post(reverse("team-password-link", args=[bob.pk])).content.decode()
    (link,) = re.findall(r"(/reset/[\w-]+/[\w-]+/)", page)
    office.post(reverse("team-end", args=[bob.pk]))
    assert "This link does not work" in Client().get(link, follow=True).content.decode()


def test_the_page_makes_the_same_queries_however_large_the_team(
    office: Client, django_assert_max_num_queries: object
) -> None:
    for number in range(12):
        make_user(f"m{number}")
        office.post(reverse("team-invite"), INVITE)
    with django_assert_max_num_queries(6):  # type: ignore[operator]
        assert "m11" in office.get(TEAM).content.decode()
