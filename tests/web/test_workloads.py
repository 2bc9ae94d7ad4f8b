from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from jobs.models import Role, Workload
from jobs.services.workload import workload_save
from tests.factories import make_profile, make_user

LIST = reverse("workloads")
LENGTHS: dict[str, Any] = {"prompt_tokens": 1000, "typical_prompt_tokens": 200, "answer_tokens": 50, "sequences": 2}
VALUES = {name: str(value) for name, value in LENGTHS.items()} | {"name": "chat", "notes": ""}


@pytest.fixture
def mine(member: User) -> Workload:
    return workload_save(user=member, name="chat", **LENGTHS)


def address(name: str, workload: Workload) -> str:
    return reverse(f"workload-{name}", args=[workload.pk])


def test_the_list_says_lengths_owner_and_how_many_use_it(signed_in: Client, mine: Workload) -> None:
    make_profile(workload=mine)
    make_profile(workload=mine, archived_at=timezone.now())
    page = signed_in.get(LIST).content.decode()
    for words in ("chat", "1,000", "ada", "1 profile<", "random tokens", f"?workload={mine.pk}"):
        assert words in page


def test_an_empty_list_says_what_to_do(signed_in: Client) -> None:
    assert "No workloads yet" in signed_in.get(LIST).content.decode()
    assert "Nothing is archived" in signed_in.get(LIST, {"archived": "yes"}).content.decode()


def test_its_owner_edits_it(signed_in: Client, mine: Workload) -> None:
    assert 'value="1000"' in signed_in.get(address("edit", mine)).content.decode()
    signed_in.post(address("edit", mine), VALUES | {"prompt_tokens": "2,000", "notes": "<b>x</b>"})
    mine.refresh_from_db()
    assert (mine.prompt_tokens, mine.notes) == (2000, "<b>x</b>")
    assert "&lt;b&gt;x" in signed_in.get(LIST).content.decode()


@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        ("name", "", "required"),
        ("name", "taken", "There is a workload “taken” already"),
        ("prompt_tokens", "0", "outside of that"),
        ("typical_prompt_tokens", "1001", "cannot be longer than the longest"),
        ("answer_tokens", "many", "Write a whole number"),
        ("notes", "n" * 4001, "4000 characters"),
    ],
)
def test_nonsense_is_refused_beside_its_field(
    signed_in: Client, mine: Workload, field: str, value: str, sentence: str
) -> None:
    workload_save(user=None, name="taken", **LENGTHS)
    answer = signed_in.post(address("edit", mine), VALUES | {field: value})
    assert sentence in " ".join(answer.context["form"].errors[field])


def test_it_is_archived_and_restored(signed_in: Client, mine: Workload) -> None:
    signed_in.post(address("archive", mine))
    assert "chat" not in [workload.name for workload, _ in signed_in.get(LIST).context["rows"]]
    assert [workload.name for workload, _ in signed_in.get(LIST, {"archived": "yes"}).context["rows"]] == ["chat"]
    assert mine not in signed_in.get(reverse("profile-new")).context["workloads"]
    signed_in.post(address("restore", mine))
    assert [workload.name for workload, _ in signed_in.get(LIST).context["rows"]] == ["chat"]


@pytest.mark.parametrize("name", ["edit", "archive", "restore"])
@pytest.mark.parametrize(("role", "status"), [(Role.VIEWER, 403), (Role.MEMBER, 403), (Role.ADMIN, 302)])
def test_another_member_may_not_and_an_administrator_may(
    client: Client, mine: Workload, name: str, role: Role, status: int
) -> None:
    client.force_login(make_user(role=role), backend="django.contrib.auth.backends.ModelBackend")
    assert client.post(address(name, mine), VALUES).status_code == status
    assert (address("edit", mine) in client.get(LIST).content.decode()) is (status == 302 and name != "archive")


def test_what_is_not_there_is_not_found_and_wrong_methods_are_refused(signed_in: Client, mine: Workload) -> None:
    for name in ("edit", "archive", "restore"):
        assert signed_in.post(reverse(f"workload-{name}", args=[999])).status_code == 404
    for name in ("archive", "restore"):
        assert signed_in.get(address(name, mine)).status_code == 405
    assert signed_in.post(LIST).status_code == 405


def test_the_list_makes_the_same_queries_however_long(signed_in: Client) -> None:
    counts = []
    for rows in (2, 12):
        for number in range(rows):
            workload = workload_save(user=make_user(), name=f"{rows} {number}", **LENGTHS)
            make_profile(workload=workload)
        with CaptureQueriesContext(connection) as made:
            signed_in.get(LIST)
        counts.append(len(made))
    assert counts[0] == counts[1]
