from datetime import timedelta
from typing import Any

import pytest
from django.db.models import Q
from django.utils import timezone

from jobs.models import Freshness, ModelEntry, Profile, PromptSet, Run, RunState, Worker
from jobs.running.hub_commit import HubUnreached, hub_commit
from jobs.services.freshness import profile_freshen, profiles_freshen
from jobs.services.hub_watch import hub_look
from jobs.services.inspection import is_of
from jobs.services.run_state import run_move
from jobs.services.worker import worker_probed
from jobs.sizing.model_spec import ModelSpec
from jobs.sizing.record import InspectionRecord
from tests.factories import make_entry, make_profile, make_run, make_worker
from tests.measuring.fake_hub import fake_hub

pytestmark = pytest.mark.django_db
OLD, NEW = "abc1234" + "0" * 33, "def5678" + "0" * 33
ENVIRONMENT = {"transformers": "5.23.0", "torch": "2.13.0", "model_revision": OLD}
DEVICE = {"name": "Epyc", "kind": "cpu", "capacity_bytes": 100}


def answered(worker: Worker, entry: ModelEntry | None = None, **fields: Any) -> Profile:
    profile = make_profile(worker, entry)
    given = {"state": RunState.RUNNING, "answered": True, "environment": ENVIRONMENT, "device": DEVICE}
    run = make_run(profile=profile, **given | fields)
    assert run_move(run_id=run.pk, to=RunState.DONE, when=Q(), message="Done.")
    profile.refresh_from_db()
    return profile


def probe(worker: Worker, **versions: str) -> None:
    devices = [{"device": "cpu", "kind": "cpu", "name": "Epyc", "capacity_bytes": 100}]
    known = {"transformers": "5.23.0", "torch": "2.13.0"} | versions
    worker_probed(name=worker.name, probe={"versions": known, "devices": devices, "applicable": {}})


def told(profile: Profile) -> tuple[str, list[str]]:
    profile.refresh_from_db()
    return profile.freshness, [f"{one['what']} {one['was']} → {one['now']}" for one in profile.differences]


@pytest.fixture
def worker() -> Worker:
    return make_worker(device_name="Epyc", capacity_bytes=100, versions={"transformers": "5.23.0", "torch": "2.13.0"})


def test_an_answer_is_fresh_when_its_run_ends(worker: Worker) -> None:
    assert told(answered(worker)) == (Freshness.FRESH, [])


def test_a_run_without_an_answer_leaves_nothing_to_hold(worker: Worker) -> None:
    assert told(answered(worker, answered=False)) == (Freshness.NONE, [])


def test_a_worker_s_new_versions_mark_its_profiles_and_others_not(worker: Worker) -> None:
    profile = answered(worker)
    other = answered(make_worker(host="other", device_name="Epyc", capacity_bytes=100, versions={}))
    probe(worker, transformers="5.24.0")
    assert told(profile) == (Freshness.STALE, ["transformers 5.23.0 → 5.24.0"])
    since = profile.differs_since
    assert since is not None
    probe(worker, transformers="5.24.0", torch="2.13.1")
    assert told(profile) == (Freshness.STALE, ["transformers 5.23.0 → 5.24.0", "torch 2.13.0 → 2.13.1"])
    assert profile.differs_since == since, "it has been stale as long"
    probe(worker, torch="2.13.1")
    assert told(profile)[0] == Freshness.DOUBT
    probe(worker)
    assert told(profile) == (Freshness.FRESH, []) and profile.differs_since is None
    assert told(other)[0] == Freshness.FRESH


def test_a_worker_that_is_starting_or_gone_is_no_difference(worker: Worker) -> None:
    profile = answered(worker)
    Worker.objects.update(versions={}, device_name="GPU 0", capacity_bytes=0)
    profile_freshen(profile=profile)
    assert profile.freshness == Freshness.FRESH
    Worker.objects.all().delete()
    profile_freshen(profile=profile)
    assert told(profile) == (Freshness.FRESH, [])


def test_an_edited_question_makes_stale_and_the_run_that_answers_it_fresh(worker: Worker) -> None:
    profile = answered(worker)
    profile.question = profile.question | {"sequences": 4}
    profile.save()
    profile_freshen(profile=profile)
    assert [one["what"] for one in profile.differences] == ["sequences at once"]
    run = make_run(profile=profile, state=RunState.RUNNING, answered=True, environment=ENVIRONMENT, device=DEVICE)
    run_move(run_id=run.pk, to=RunState.DONE, when=Q(), message="Done.")
    assert told(profile) == (Freshness.FRESH, [])


def test_a_config_read_anew_by_the_same_transformers_makes_stale(worker: Worker) -> None:
    entry = make_entry(config_hash="d" * 64)
    entry.record["versions"] = {"transformers": "5.23.0"}
    entry.save()
    profile = answered(worker, entry, config_hash="c" * 64)
    assert told(profile) == (Freshness.STALE, ["model config ccccccc → ddddddd"])
    entry.record["versions"] = {"transformers": "5.24.0"}
    entry.save()
    profile_freshen(profile=profile)
    assert profile.freshness == Freshness.FRESH, "another transformers reads other defaults into it"


def test_many_profiles_take_as_many_queries_as_few(worker: Worker, django_assert_num_queries: Any) -> None:
    for _ in range(12):
        answered(worker)
    Worker.objects.update(versions={"transformers": "5.24.0"})
    with django_assert_num_queries(5):  # with the savepoint's two
        assert profiles_freshen(of=Q(worker=worker)) == 12
    with django_assert_num_queries(4):
        assert profiles_freshen(of=Q(worker=worker)) == 0


def look(answers: dict[str, str | None], **fields: Any) -> tuple[int, list[str]]:
    asked: list[str] = []

    def ask(name: str, revision: str) -> str | None:
        asked.append(f"{name}@{revision}" if revision else name)
        return answers[name]

    return hub_look(ask=ask, **fields), asked


def test_a_revision_that_moved_makes_its_answers_stale_and_its_record_old(worker: Worker) -> None:
    entry = make_entry("org/model")
    profile = answered(worker, entry)
    entry.refresh_from_db()
    assert entry.seen_commit == OLD, "what a run fetched is known"
    prompts = PromptSet.objects.create(name="ours", sha256="0" * 64, texts=["a"], count=1, file_bytes=1)
    entry.prompt_counts.create(prompts=prompts, state="ready", lengths={})
    assert look({"org/model": NEW}) == (1, ["org/model"])
    assert told(profile) == (Freshness.STALE, ["model revision abc1234 → def5678"])
    assert not entry.prompt_counts.exists()
    record = InspectionRecord.from_json(entry.record | {"versions": {"commit": OLD}})
    assert not is_of(record, ModelSpec.from_json(entry.spec), {"commit": NEW})
    assert is_of(record, ModelSpec.from_json(entry.spec), {"commit": OLD})


def test_a_model_is_asked_about_once_a_day_and_few_in_a_round(worker: Worker) -> None:
    names = [f"org/m{number}" for number in range(5)]
    for name in names:
        answered(worker, make_entry(name))
    ModelEntry.objects.update(looked_at=None)
    make_entry("org/unanswered")
    answered(worker, make_entry("org/pinned", revision=OLD))
    answered(worker, make_entry("org/architecture", kind="architecture"))
    now = timezone.now()
    answers: dict[str, str | None] = dict.fromkeys(names, OLD)
    assert len(look(answers, now=now)[1]) == 3 and len(look(answers, now=now)[1]) == 2
    assert look(answers, now=now + timedelta(hours=23)) == (0, [])
    assert len(look(answers, now=now + timedelta(hours=24), most=9)[1]) == 5


def test_a_hub_that_does_not_answer_or_tell_changes_nothing_and_is_left_alone(worker: Worker) -> None:
    profiles = [answered(worker, make_entry(f"org/m{number}")) for number in range(2)]
    asked: list[str] = []

    def unreached(name: str, revision: str) -> str | None:
        asked.append(name)
        raise HubUnreached

    now = timezone.now()
    assert hub_look(ask=unreached, now=now) == hub_look(ask=unreached, now=now + timedelta(minutes=59)) == 0
    assert len(asked) == 1
    assert look(dict.fromkeys(["org/m0", "org/m1"]), now=now + timedelta(minutes=61))[0] == 0
    assert {told(profile)[0] for profile in profiles} == {Freshness.FRESH}


def test_what_a_run_fetched_is_believed_until_the_hub_says_otherwise(worker: Worker) -> None:
    entry = make_entry("org/model", seen_commit=NEW, looked_at=timezone.now())
    profile = answered(worker, entry)
    assert told(profile) == (Freshness.FRESH, [])
    assert look({"org/model": NEW}) == (1, ["org/model"]), "asked again at once: the worker may have had no network"
    assert told(profile)[0] == Freshness.STALE
    assert Run.objects.count() == 1


def test_the_hub_is_asked_for_a_commit_and_waited_for_a_short_time(monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub import constants

    with fake_hub({"org/model": {"config.json": b"{}"}, "slow/model": {}}) as hub:
        monkeypatch.setattr(constants, "ENDPOINT", hub.url)
        monkeypatch.setattr(
            constants, "HUGGINGFACE_CO_URL_TEMPLATE", hub.url + "/{repo_id}/resolve/{revision}/{filename}"
        )
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
        assert hub_commit("org/model", "") == hub.commit == hub_commit("org/model", "main")
        assert hub_commit("gated/model", "") is hub_commit("missing/model", "") is hub_commit("org/model", "v9") is None
        for name in ("down/model", "busy/model"):
            with pytest.raises(HubUnreached):
                hub_commit(name, "")
        with pytest.raises(HubUnreached):
            hub_commit("slow/model", "", patience_s=0.05)
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
        with pytest.raises(HubUnreached):
            hub_commit("org/model", "")
