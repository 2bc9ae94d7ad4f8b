"""Names that people type, on every page that shows them."""

import pytest
from django.test import Client
from django.urls import reverse

from jobs.models import Profile, Run, RunState
from jobs.services.workload import workload_save
from tests.factories import make_profile, make_run, make_user, make_worker

OVERRIDE = "\u202e"
NAME = f"{OVERRIDE}gnp.exe <b>"
SHOWN = "gnp.exe &lt;b&gt;"


@pytest.fixture
def named(db: None) -> Run:
    workload = workload_save(
        user=make_user(), name=NAME, prompt_tokens=8, typical_prompt_tokens=8, answer_tokens=8, sequences=1
    )
    worker = make_worker()
    profile: Profile = make_profile(worker, name=NAME, workload=workload)
    return make_run(worker, profile, state=RunState.QUEUED)


@pytest.mark.parametrize("page", ["home", "profiles", "profile", "run", "run-fragment", "profile-new"])
def test_a_name_cannot_turn_the_page_around_it_about(signed_in: Client, named: Run, page: str) -> None:
    arguments = {"profile": [named.profile_id], "run": [named.pk], "run-fragment": [named.pk]}.get(page, [])
    query = {"from": named.profile_id} if page == "profile-new" else {}
    text = signed_in.get(reverse(page, args=arguments), query).content.decode()
    shown = text.replace(f'value="{OVERRIDE}', "")  # what was typed stays in its own field
    assert OVERRIDE not in shown
    assert f"<bdi>{SHOWN}</bdi>" in text


def test_a_workload_s_name_is_plain_where_it_is_chosen(signed_in: Client, named: Run) -> None:
    assert f"{SHOWN} (8 + 8)" in signed_in.get(reverse("profile-new")).content.decode()


def test_what_is_refused_is_told_back_without_its_marks(signed_in: Client) -> None:
    asked = {"model": "gpt2", "prompt_tokens": "8", "answer_tokens": "8", "more_strategies": f"static{OVERRIDE}"}
    assert OVERRIDE not in signed_in.get(reverse("estimate"), asked).content.decode()
    page = signed_in.post(reverse("profile-new"), asked).content.decode()
    assert "“static” is not a cache strategy" in page
    assert page.count(OVERRIDE) == 1, "in its own field alone"
