from dataclasses import replace
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from jobs.models import EntryState, ModelEntry
from jobs.running.model_source import resolve_model
from jobs.web.views import question_live
from tests.browser import demo
from tests.factories import make_entry

CHECK, DURATION, ESTIMATE = reverse("model-check"), reverse("duration"), reverse("estimate")


def check(client: Client, **asked: Any) -> dict[str, Any]:
    found: dict[str, Any] = client.get(CHECK, asked).json()
    return found


def test_a_known_model_is_ready_with_its_figures(signed_in: Client) -> None:
    demo.entry()
    found = check(signed_in, model="smollm2-135m")
    assert (found["state"], found["title"]) == ("ready", "SmolLM2-135M")
    assert (found["parameters"], found["native_context"]) == (134515008, 8192)
    assert found["message"] == "135 M parameters · reads up to 8,192 tokens"


def test_a_new_model_is_inspected(signed_in: Client) -> None:
    found = check(signed_in, model="gpt2")
    assert found["state"] == "inspecting"
    assert ModelEntry.objects.get(pk=found["entry"]).state == EntryState.WAITING


def test_what_is_no_model_is_refused_with_a_hint(signed_in: Client) -> None:
    found = check(signed_in, model="nothing like it")
    assert found["state"] == "refused"
    assert found["message"]
    assert found["hint"]
    assert not ModelEntry.objects.exists()


def test_asking_again_does_not_inspect_a_refused_model_again(signed_in: Client) -> None:
    spec = resolve_model("org/gated").as_json()
    error = {"code": "gated", "message": "The model is gated.", "hint": "Accept its licence."}
    entry = make_entry("org/gated", inspected=False, spec=spec, state=EntryState.REFUSED, error=error)
    for asked in ({}, {"entry": entry.pk}):
        assert check(signed_in, model="org/gated", **asked)["message"] == "The model is gated."
    entry.refresh_from_db()
    assert entry.state == EntryState.REFUSED


@pytest.mark.parametrize("entry", ["999", "x", "-1", "9" * 30])
def test_an_entry_that_is_none_is_looked_up_by_name(signed_in: Client, entry: str) -> None:
    demo.entry()
    assert check(signed_in, model="SmolLM2-135M", entry=entry)["state"] == "ready"


def test_an_entry_of_another_model_answers_nothing_about_this_one(signed_in: Client) -> None:
    other = demo.entry()
    found = check(signed_in, model="gpt2", entry=other.pk)
    assert (found["state"], found["title"]) == ("inspecting", "gpt2")
    assert check(signed_in, model="nothing like it", entry=other.pk)["state"] == "refused"


def test_asking_again_about_a_waiting_model_asks_for_no_second_inspection(
    signed_in: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = check(signed_in, model="gpt2")
    monkeypatch.setattr(question_live, "model_entry_request", None)
    assert check(signed_in, model="gpt2", entry=first["entry"])["state"] == "inspecting"


def test_nothing_typed_is_no_fault(signed_in: Client) -> None:
    assert check(signed_in, model=" ") == {"state": "empty"}


def test_the_length_of_a_run_is_a_range_for_quick_and_full(signed_in: Client) -> None:
    demo.worker()
    demo.entry()
    asked = {"model": "SmolLM2-135M", "prompt_tokens": "4096", "answer_tokens": "256", "strategies": ["static"]}
    found = signed_in.get(DURATION, asked).json()
    assert set(found) == {"quick", "full"}
    assert all(text.startswith("about ") for text in found.values())
    assert found["quick"] != found["full"]


def test_a_model_that_is_not_read_yet_has_no_length(signed_in: Client) -> None:
    demo.worker()
    assert signed_in.get(DURATION, {"model": "gpt2", "prompt_tokens": "512", "answer_tokens": "32"}).json() == {}


@pytest.mark.parametrize("refused", [{"capacity": "200MiB"}, {"prompt_tokens": "9000"}])
def test_a_run_that_sending_would_refuse_has_no_length(signed_in: Client, refused: dict[str, str]) -> None:
    demo.worker()
    demo.entry()
    asked = {"model": "SmolLM2-135M", "prompt_tokens": "4096", "answer_tokens": "256"}
    assert signed_in.get(DURATION, asked).json()
    assert signed_in.get(DURATION, asked | refused).json() == {}


@pytest.mark.parametrize("random_weights", [True, False])
def test_random_weights_are_told_by_the_record(signed_in: Client, random_weights: bool) -> None:
    record = replace(demo.demo_record(), random_weights=random_weights)
    entry = demo.entry()
    ModelEntry.objects.filter(pk=entry.pk).update(record=record.as_json())
    message = check(signed_in, model="SmolLM2-135M")["message"]
    assert message.endswith("architecture only (random weights)") is random_weights


def test_a_model_that_waits_says_how_long_or_behind_how_many(signed_in: Client) -> None:
    assert check(signed_in, model="gpt2")["message"] == "Reading the config of gpt2, usually under 30 s …"
    assert check(signed_in, model="Qwen2.5-0.5B")["message"].endswith("behind 1 other model …")


@pytest.mark.parametrize("field", ["model", "prompt_tokens", "capacity"])
def test_nonsense_has_no_length(signed_in: Client, field: str) -> None:
    demo.worker()
    asked = {"model": "gpt2", "prompt_tokens": "512", "answer_tokens": "32"} | {field: "no such thing"}
    assert signed_in.get(DURATION, asked).json() == {}


@pytest.mark.django_db
@pytest.mark.parametrize("address", [CHECK, DURATION, ESTIMATE])
def test_a_stranger_is_sent_to_sign_in(client: Client, address: str) -> None:
    assert client.get(address, {"model": "gpt2"}).status_code == 302
    assert not ModelEntry.objects.exists()


@pytest.mark.parametrize("address", [CHECK, DURATION, ESTIMATE])
def test_nothing_is_posted_here(signed_in: Client, address: str) -> None:
    assert signed_in.post(address).status_code == 405
