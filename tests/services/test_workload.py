from typing import Any

import pytest

from jobs.models import Workload
from jobs.services.workload import workload_save
from jobs.sizing.refusal import Refusal
from tests.factories import make_user
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
