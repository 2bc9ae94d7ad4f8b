from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from jobs.models import Profile, RunState
from jobs.selectors.model_entry import entries_list, entry_find, record_of
from jobs.selectors.profile import profile_get, profiles_list
from jobs.selectors.worker import devices_for_form, workers_list
from jobs.selectors.workload import workloads_list
from jobs.services.workload import workload_save
from jobs.sizing.model_spec import ModelKind, ModelSpec
from tests.factories import make_entry, make_profile, make_record, make_run, make_user, make_worker

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("rows", [1, 6])
def test_profiles_with_what_lists_print_take_two_queries(rows: int, django_assert_num_queries: Any) -> None:
    for _ in range(rows):
        profile = make_profile(owner=make_user())
        run = make_run(profile=profile, state=RunState.DONE, answered=True, device={"name": "A card"})
        Profile.objects.filter(pk=profile.pk).update(answer_run=run, latest_run=run)
    with django_assert_num_queries(2):
        listed = profiles_list()
        assert [(one.device_shown, one.latest_run.state, list(one.tags.all())) for one in listed] == [
            ("A card", "done", [])
        ] * rows


def test_a_profile_comes_with_what_it_names(django_assert_num_queries: Any) -> None:
    profile = make_profile()
    with django_assert_num_queries(1):
        found = profile_get(profile.pk)
        str((found.owner, found.model_entry, found.workload, found.worker))


@pytest.mark.parametrize("rows", [1, 6])
def test_workers_take_two_queries(rows: int, django_assert_num_queries: Any) -> None:
    for number in range(rows):
        worker = make_worker(host=f"box{number}")
        make_run(worker, state=RunState.RUNNING)
        make_run(worker)
    with django_assert_num_queries(2):
        workers = workers_list()
        assert [(worker.alive, worker.run is not None, worker.waiting) for worker in workers] == [
            (True, True, 1)
        ] * rows
        str([worker.run and worker.run.profile.name for worker in workers])


def test_a_worker_silent_for_a_minute_is_dead() -> None:
    now = timezone.now()
    make_worker("cpu", seen_at=now - timedelta(seconds=59))
    make_worker("cuda:0", seen_at=now - timedelta(seconds=61))
    assert {worker.device: worker.alive for worker in workers_list(now)} == {"cpu": True, "cuda:0": False}


def test_the_form_offers_the_living_first_and_graphics_before_processors() -> None:
    now = timezone.now()
    make_worker("cuda:1", seen_at=now - timedelta(hours=1))
    make_worker("cpu", seen_at=now)
    make_worker("cuda:0", seen_at=now)
    assert [worker.device for worker in devices_for_form(now)] == ["cuda:0", "cpu", "cuda:1"]


def test_a_record_comes_back_as_it_was_kept() -> None:
    assert record_of(make_entry("org/one")) == make_record(model="org/one")
    assert record_of(make_entry(inspected=False)) is None


def test_a_record_is_parsed_once_for_each_inspection(django_assert_num_queries: Any) -> None:
    entry = make_entry("org/one", inspected_at=timezone.now())
    found = entry_find(ModelSpec.from_json(entry.spec))
    assert found is not None
    with django_assert_num_queries(1):
        assert record_of(found) == make_record(model="org/one")
        assert record_of(found) is record_of(found)
    entry.record, entry.inspected_at = make_record(parameters=7).as_json(), timezone.now() + timedelta(seconds=1)
    entry.save()
    again = entry_find(ModelSpec.from_json(entry.spec))
    assert again is not None
    assert record_of(again) == make_record(parameters=7)
    assert entry_find(ModelSpec(kind=ModelKind.HUB, name="org/none")) is None


def test_models_and_workloads_are_listed_by_name(django_assert_num_queries: Any) -> None:
    for name in ("b", "a"):
        make_entry(name)
        workload_save(
            user=make_user(), name=name, prompt_tokens=8, typical_prompt_tokens=8, answer_tokens=8, sequences=1
        )
    with django_assert_num_queries(2):
        assert [entry.name for entry in entries_list()] == ["a", "b"]
        assert [str(workload.owner) != "" and workload.name for workload in workloads_list()] == ["a", "b"]
