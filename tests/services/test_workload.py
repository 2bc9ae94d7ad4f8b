from typing import Any

import pytest

from jobs.models import Deed, Workload
from jobs.selectors.workload import workloads_offered
from jobs.services.workload import workload_archive, workload_edit, workload_restore, workload_save
from jobs.sizing.refusal import Refusal
from tests.factories import make_profile, make_user
from tests.services.threads import at_once

LENGTHS: dict[str, Any] = {"prompt_tokens": 1000, "typical_prompt_tokens": 200, "answer_tokens": 50, "sequences": 2}


@pytest.mark.django_db
def test_a_workload_is_saved_once_and_found_again() -> None:
    user = make_user()
    saved = workload_save(user=user, name=" chat ", **LENGTHS)
    assert workload_save(user=make_user(), name="chat", **LENGTHS) == saved
    assert Workload.objects.get().name == "chat"


@pytest.mark.django_db
def test_its_owner_may_change_it_and_nobody_else() -> None:
    user = make_user()
    workload_save(user=user, name="chat", **LENGTHS)
    changed = workload_save(user=user, name="chat", **(LENGTHS | {"prompt_tokens": 2000}))
    assert Workload.objects.get() == changed and changed.prompt_tokens == 2000
    with pytest.raises(Refusal, match="not yours"):
        workload_save(user=make_user(), name="chat", **LENGTHS)


@pytest.mark.django_db
@pytest.mark.parametrize(
    "wrong",
    [
        {"prompt_tokens": 0},
        {"answer_tokens": -1},
        {"sequences": 10**12},
        {"typical_prompt_tokens": 1001},
        {"name": " "},
        {"name": "n" * 81},
    ],
)
def test_nonsense_is_refused_with_a_hint(wrong: dict[str, Any]) -> None:
    with pytest.raises(Refusal) as caught:
        workload_save(user=make_user(), **({"name": "chat"} | LENGTHS | wrong))
    assert caught.value.hint
    assert not Workload.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_two_who_save_it_at_once_get_the_same() -> None:
    user = make_user()
    made = at_once(*[lambda: workload_save(user=user, name="chat", **LENGTHS)] * 2)
    assert made[0] == made[1] == Workload.objects.get()


@pytest.mark.django_db
def test_an_edit_changes_no_profile_that_uses_it() -> None:
    user = make_user()
    workload = workload_save(user=user, name="chat", **LENGTHS)
    profile = make_profile(workload=workload)
    asked = profile.question
    edited = workload_edit(
        workload=workload, user=user, **({"name": "talk", "notes": " by\r\nphone "} | LENGTHS | {"prompt_tokens": 2000})
    )
    profile.refresh_from_db()
    assert (edited.name, edited.prompt_tokens, edited.notes) == ("talk", 2000, "by\nphone")
    assert profile.question == asked
    assert Deed.objects.get().about == "prompt tokens, name, notes"


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        ({"name": "taken"}, "workload_taken"),
        ({"name": " "}, "bad_name"),
        ({"typical_prompt_tokens": 5000}, "bad_length"),
        ({"notes": "n" * 4001}, "bad_notes"),
    ],
)
def test_an_edit_is_held_to_the_same_rules(wrong: dict[str, Any], code: str) -> None:
    user = make_user()
    workload_save(user=user, name="taken", **LENGTHS)
    workload = workload_save(user=user, name="chat", **LENGTHS)
    with pytest.raises(Refusal) as refused:
        workload_edit(workload=workload, user=user, **({"name": "chat"} | LENGTHS | wrong))
    assert refused.value.code == code


@pytest.mark.django_db
def test_an_archived_workload_is_kept_and_not_offered() -> None:
    workload = workload_save(user=None, name="chat", **LENGTHS)
    assert workload_archive(workload=workload, user=None)
    assert not workload_archive(workload=workload, user=None)
    assert not workloads_offered().exists()
    assert workload_restore(workload=workload, user=None)
    assert list(workloads_offered()) == [workload]
    assert list(Deed.objects.order_by("pk").values_list("what", flat=True)) == ["archived", "restored"]
