import re
from typing import Any
from urllib.parse import urlencode

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from jobs.asking import waiting
from jobs.models import Deed, EntryState, ModelEntry, Profile, Run, Worker, Workload
from jobs.services.workload import workload_save
from jobs.sizing.units import GIB
from tests.browser import demo
from tests.factories import make_profile, make_user, make_worker
from tests.procedure.worlds import record

NEW = reverse("profile-new")
LEAST = {"model": "SmolLM2-135M", "prompt_tokens": "4096", "answer_tokens": "256"}


@pytest.fixture
def asking(signed_in: Client, monkeypatch: pytest.MonkeyPatch) -> Client:
    """Two models are inspected and two devices live; what is not inspected is not waited for."""
    demo.worker()
    demo.entry()
    demo.known("Qwen2.5-0.5B", record(model="Qwen2.5-0.5B", native_context=5000))
    monkeypatch.setattr(waiting, "PATIENCE_S", 0.0)
    return signed_in


@pytest.fixture
def card(asking: Client) -> Worker:
    return make_worker("cuda:0", device_name="NVIDIA L4", capacity_bytes=22 * GIB)


def errors(client: Client, **fields: Any) -> dict[str, str]:
    """Refused whole: nothing is made."""
    answer = client.post(NEW, LEAST | fields)
    assert answer.status_code == 200
    assert not Profile.objects.exists()
    return {name: " ".join(map(str, said)) for name, said in answer.context["form"].errors.items()}


def test_every_model_on_every_device_becomes_a_profile_and_the_address_names_them(asking: Client, card: Worker) -> None:
    answer = asking.post(
        NEW,
        LEAST | {"more_models": "Qwen2.5-0.5B\n\nSmolLM2-135M", "worker": demo.worker(), "more_workers": [card.pk]},
    )
    profiles = list(Profile.objects.order_by("pk"))
    assert [profile.name for profile in profiles] == [
        f"{model} · 4,096 + 256 · {device}"
        for model in ("SmolLM2-135M", "Qwen2.5-0.5B")
        for device in (demo.DEVICE["name"], "NVIDIA L4")
    ]
    assert [profile.question["device"] for profile in profiles] == ["cpu", "cuda:0"] * 2
    assert Run.objects.filter(state="queued").count() == 4
    address = f"{reverse('profiles')}?{urlencode([('profile', profile.pk) for profile in profiles])}"
    assert answer.headers["Location"] == address
    assert {row.pk for row in asking.get(address).context["profiles"]} == {profile.pk for profile in profiles}


def test_a_name_and_a_workload_are_all_of_theirs(asking: Client) -> None:
    asking.post(NEW, LEAST | {"more_models": "Qwen2.5-0.5B", "name": "Letters", "workload_name": "letters"})
    assert [profile.name.split(" · ")[:2] for profile in Profile.objects.order_by("pk")] == [
        ["Letters", "SmolLM2-135M"],
        ["Letters", "Qwen2.5-0.5B"],
    ]
    assert Workload.objects.get().profiles.count() == 2


@pytest.mark.parametrize(
    ("fields", "field", "sentence"),
    [
        ({"more_models": "/etc"}, "more_models", "/etc on AMD EPYC 9454P: "),
        (
            {"more_models": "gpt2", "prompt_tokens": "512"},
            "__all__",
            "gpt2 is still being read; the other model is ready. Send this again in a moment. What you typed is kept.",
        ),
        (
            {"model": "gpt2", "more_models": "org/b, org/c, Qwen2.5-0.5B, SmolLM2-135M", "prompt_tokens": "512"},
            "__all__",
            "gpt2, org/b and org/c are still being read; the other 2 models are ready. Send this again in a moment.",
        ),
        (
            {"more_models": "Qwen2.5-0.5B", "prompt_tokens": "6000"},
            "prompt_tokens",
            "Qwen2.5-0.5B on AMD EPYC 9454P: Qwen2.5-0.5B reads at most 5,000 tokens",
        ),
        ({"more_models": "x" * 4001}, "more_models", "4000 characters"),
        ({"more_models": ",".join(f"org/m{n}" for n in range(12))}, "more_models", "13 runs; at most 12 are made"),
        ({"more_workers": ["999"]}, "more_workers", "That device’s worker is gone"),
    ],
)
def test_what_one_of_them_is_refused_for_says_which(
    asking: Client, fields: dict[str, Any], field: str, sentence: str
) -> None:
    found = errors(asking, **fields)
    assert list(found) == [field]
    assert sentence in found[field]


def test_models_that_are_not_read_are_all_asked_for_before_any_is_waited_for(
    asking: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting_at_once: list[int] = []

    def look(entry: ModelEntry, deadline_s: float | None = None) -> ModelEntry:
        waiting_at_once.append(ModelEntry.objects.filter(state=EntryState.WAITING).count())
        return entry

    monkeypatch.setattr(waiting, "settled", look)
    errors(asking, more_models="gpt2, org/b, org/c", prompt_tokens="512")
    assert waiting_at_once == [3] * 4


def test_what_is_refused_is_not_called_ready(asking: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def look(entry: ModelEntry, deadline_s: float | None = None) -> ModelEntry:
        entry.state = EntryState.REFUSED if entry.name == "org/b" else entry.state
        return entry

    monkeypatch.setattr(waiting, "settled", look)
    found = errors(asking, more_models="gpt2, org/b", prompt_tokens="512")
    assert found["__all__"] == "gpt2 is still being read. Send this again in a moment. What you typed is kept."
    assert found["more_models"].startswith("org/b on AMD EPYC 9454P: org/b was refused.")


def test_a_capacity_that_one_of_the_devices_lacks_says_which(asking: Client, card: Worker) -> None:
    found = errors(asking, worker=demo.worker(), more_workers=[card.pk], capacity="30GiB")
    assert found == {"capacity": "SmolLM2-135M on NVIDIA L4: NVIDIA L4 has 22 GiB: ask for that or less."}


def test_without_a_script_the_estimate_says_how_many_runs_it_makes(asking: Client, card: Worker) -> None:
    fields = LEAST | {"more_models": "Qwen2.5-0.5B", "worker": demo.worker(), "more_workers": [card.pk]}
    page = asking.post(NEW, fields | {"estimate": "yes"}).content.decode()
    assert "This makes 4 runs; the estimate is of the first." in page
    assert not Run.objects.exists()
    assert "This makes" not in asking.get(NEW).content.decode()


def test_a_clone_says_where_it_comes_from_and_keeps_it(asking: Client) -> None:
    source = make_profile(name="The first", owner=make_user("bob"), question=demo.question().as_json())
    page = asking.get(NEW, {"from": source.pk}).content.decode()
    assert re.search(r"Cloned from .*The first.* \(asked by bob, .*\)\. Nothing is saved before you send it\.", page)
    refused = asking.post(NEW, LEAST | {"from": source.pk, "prompt_tokens": "0"}).content.decode()
    assert "Cloned from" in refused
    asking.post(NEW, LEAST | {"from": source.pk})
    made = Profile.objects.exclude(pk=source.pk).get()
    assert made.cloned_from == source
    assert "The first" in asking.get(reverse("profile", args=[made.pk])).content.decode()


@pytest.fixture
def mine(asking: Client, member: User) -> Profile:
    return Run.objects.get(pk=demo.submit("Mine")).profile


def test_its_owner_changes_what_a_profile_asks(asking: Client, mine: Profile) -> None:
    page = asking.get(NEW, {"edit": mine.pk}).content.decode()
    assert "Changing the question of" in page
    assert 'name="more_models"' not in page
    answer = asking.post(NEW, LEAST | {"edit": mine.pk, "prompt_tokens": "2048", "name": "Ignored"})
    mine.refresh_from_db()
    assert (mine.name, mine.question["prompt_tokens"]) == ("Mine", 2048)
    first, second = mine.runs.order_by("pk")
    assert (first.question["prompt_tokens"], second.question["prompt_tokens"]) == (4096, 2048)
    assert answer.headers["Location"] == reverse("run", args=[second.pk])
    assert Deed.objects.filter(what="edited", profile=mine).exists()


def test_the_same_question_is_refused_with_a_sentence(asking: Client, mine: Profile) -> None:
    form = asking.get(NEW, {"edit": mine.pk}).context["form"]
    values = {name: value for name, value in form.initial.items() if value is not None}
    answer = asking.post(NEW, values | {"edit": mine.pk, "capacity": "340MiB"})
    assert "The question is the same as before." in answer.content.decode()
    assert mine.runs.count() == 1


def test_somebody_elses_question_is_not_changed(asking: Client) -> None:
    other = make_profile(owner=make_user("bob"))
    assert asking.get(NEW, {"edit": other.pk}).status_code == 403
    assert asking.post(NEW, LEAST | {"edit": other.pk}).status_code == 403


@pytest.mark.parametrize("name", ["from", "edit"])
@pytest.mark.parametrize("number", ["999", "x", "9" * 30])
def test_a_profile_that_is_not_there_is_not_found(asking: Client, name: str, number: str) -> None:
    assert asking.get(NEW, {name: number}).status_code == 404
    assert asking.post(NEW, LEAST | {name: number}).status_code == 404


def test_a_workload_is_picked_by_the_address(asking: Client) -> None:
    lengths = {"typical_prompt_tokens": 100, "answer_tokens": 50, "sequences": 3}
    workload = workload_save(user=None, name="chat", prompt_tokens=700, **lengths)
    form = asking.get(NEW, {"workload": workload.pk}).context["form"]
    assert (form["workload"].value(), form["prompt_tokens"].value(), form["sequences"].value()) == (workload.pk, 700, 3)
    assert asking.get(NEW, {"workload": "x"}).context["form"]["workload"].value() is None


def test_a_clone_of_the_same_lengths_keeps_the_workload(asking: Client) -> None:
    lengths = {"typical_prompt_tokens": 1024, "answer_tokens": 256, "sequences": 1}
    workload = workload_save(user=None, name="chat", prompt_tokens=4096, **lengths)
    source = make_profile(workload=workload)
    asking.post(NEW, LEAST | {"from": source.pk})
    asking.post(NEW, LEAST | {"from": source.pk, "answer_tokens": "99"})
    made = Profile.objects.exclude(pk=source.pk).order_by("pk")
    assert [profile.workload for profile in made] == [workload, None]
