from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from jobs.models import Profile, Role
from tests.factories import make_profile, make_user

VALUES = {"name": "Night shift", "tags": "b, A", "notes": "As of March.", "at_night": "on"}


@pytest.fixture
def mine(member: User) -> Profile:
    return make_profile(name="Mine", owner=member)


def address(name: str, profile: Profile) -> str:
    return reverse(f"profile-{name}", args=[profile.pk])


def test_its_owner_edits_it(signed_in: Client, mine: Profile) -> None:
    assert 'value="Mine"' in signed_in.get(address("edit", mine)).content.decode()
    answer = signed_in.post(address("edit", mine), VALUES)
    assert answer.headers["Location"] == reverse("profile", args=[mine.pk])
    mine.refresh_from_db()
    assert (mine.name, mine.notes, mine.at_night) == ("Night shift", "As of March.", True)
    assert 'value="a, b"' in signed_in.get(address("edit", mine)).content.decode()


@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        ("name", "", "Give it a name."),
        ("name", "\0", "Null characters"),
        ("name", "n" * 121, "120 characters"),
        ("tags", ",".join("abcdefghijk"), "11 tags are more than 10"),
        ("tags", "t" * 41, "is no tag"),
        ("notes", "n" * 4001, "4000 characters"),
    ],
)
def test_what_cannot_be_kept_is_said_beside_its_field(
    signed_in: Client, mine: Profile, field: str, value: str, sentence: str
) -> None:
    answer = signed_in.post(address("edit", mine), VALUES | {field: value})
    assert sentence in " ".join(answer.context["form"].errors[field])
    mine.refresh_from_db()
    assert mine.name == "Mine"


def test_it_is_archived_said_so_and_restored(signed_in: Client, mine: Profile) -> None:
    page = signed_in.post(address("archive", mine), follow=True).content.decode()
    assert "lists leave it out" in page
    assert reverse("run-again", args=[mine.pk]) not in page
    refused = signed_in.post(reverse("run-again", args=[mine.pk]), follow=True).content.decode()
    assert "is archived: nothing of it is run" in refused
    assert (
        reverse("run-again", args=[mine.pk]) in signed_in.post(address("restore", mine), follow=True).content.decode()
    )


@pytest.mark.parametrize("name", ["edit", "archive", "restore"])
@pytest.mark.parametrize(("role", "status"), [(Role.VIEWER, 403), (Role.MEMBER, 403), (Role.ADMIN, 302)])
def test_another_member_may_not_and_an_administrator_may(
    client: Client, mine: Profile, name: str, role: Role, status: int
) -> None:
    client.force_login(make_user(role=role), backend="django.contrib.auth.backends.ModelBackend")
    assert client.post(address(name, mine), VALUES).status_code == status
    page = client.get(reverse("profile", args=[mine.pk])).content.decode()
    assert (address("edit", mine) in page) is (status == 302)


def test_what_is_not_there_is_not_found_and_wrong_methods_are_refused(signed_in: Client, mine: Profile) -> None:
    missing: Any = reverse("profile-edit", args=[999])
    assert signed_in.get(missing).status_code == 404
    for name in ("archive", "restore"):
        assert signed_in.get(address(name, mine)).status_code == 405
        assert signed_in.post(reverse(f"profile-{name}", args=[999])).status_code == 404
