"""Packed weights in the form, the estimate and the run's words; a download's line; a GGUF file's note."""

from dataclasses import replace
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from jobs.asking import waiting
from jobs.models import ModelEntry, Run
from jobs.sizing.record import StoredWeights
from jobs.web.presenters.limits import answer
from jobs.web.presenters.questions import question_words
from jobs.web.presenters.stages import stage_rows
from tests.browser import demo
from tests.procedure.worlds import WEIGHTS_BYTES

NEW, ESTIMATE = reverse("profile-new"), reverse("estimate")
LEAST = {"model": "SmolLM2-135M", "prompt_tokens": "4096", "answer_tokens": "256", "capacity": "1GiB"}
BNB4 = StoredWeights(
    method="bitsandbytes",
    bits=4,
    source="on_the_fly",
    file_bytes=None,
    device_bytes={"bfloat16": WEIGHTS_BYTES // 2},
    dequantized=False,
)
MOMENT = "2026-01-01T00:00:00Z"


@pytest.fixture
def asking(signed_in: Client, monkeypatch: pytest.MonkeyPatch) -> Client:
    demo.worker()
    demo.entry()
    monkeypatch.setattr(waiting, "PATIENCE_S", 0.0)
    keep(on_the_fly={"bnb4": BNB4})
    return signed_in


def keep(**changes: Any) -> None:
    record = replace(demo.demo_record(), **changes)
    ModelEntry.objects.filter(name="SmolLM2-135M").update(record=record.as_json(), inspected_at=timezone.now())


def test_the_form_s_choice_reaches_the_question_and_a_blank_is_as_stored(asking: Client) -> None:
    asking.post(NEW, LEAST | {"weights": "bnb4"})
    asking.post(NEW, LEAST)
    assert [run.question["weights"] for run in Run.objects.order_by("pk")] == ["bnb4", "as-stored"]


def test_the_estimate_is_of_the_weights_as_they_will_be(asking: Client) -> None:
    plain = asking.get(ESTIMATE, LEAST).context["outlook"]
    packed = asking.get(ESTIMATE, LEAST | {"weights": "bnb4"})
    assert plain.lines[0].sizes[0] == WEIGHTS_BYTES
    assert packed.context["outlook"].lines[0].sizes[0] == WEIGHTS_BYTES // 2
    assert "packed as bitsandbytes (4 bits) while they are loaded" in packed.content.decode()


def test_weights_that_cannot_be_packed_are_a_fault_of_that_field(asking: Client) -> None:
    form = asking.post(NEW, LEAST | {"weights": "bnb8"}).context["form"]
    assert "cannot be packed so" in form.errors["weights"][0]
    missing = asking.get(ESTIMATE, LEAST | {"weights": "bnb8"}).context["outlook"]
    assert [fault.field for fault in missing.faults] == ["weights"]
    assert "weights" in asking.post(NEW, LEAST | {"weights": "bnb3"}).context["form"].errors


def test_a_run_says_how_its_weights_are_packed() -> None:
    asked = demo.question(weights="bnb8").as_json()
    assert question_words(asked).dtype == "bfloat16, weights packed in 8 bits (bitsandbytes)"
    assert question_words({**asked, "weights": "as-stored"}).dtype == "bfloat16"


def event(kind: str, **data: Any) -> dict[str, Any]:
    return {"seq": 1, "kind": kind, "at": MOMENT, "data": data}


def test_a_download_is_a_line_before_the_four_and_says_how_far_it_is() -> None:
    said = "Downloading: 1 GiB of 2 GiB, 80 MiB/s."
    going = [event("stage_started", stage="download"), event("log", message=said)]
    rows = stage_rows(going, {}, active=True)
    assert [row.name for row in rows] == ["download", "budgets", "baseline", "changes", "limit"]
    assert (rows[0].title, rows[0].status, rows[0].text) == ("Download", "running", said)
    result = {"bytes": 2**31, "fetched_bytes": 2**30, "seconds": 9.0, "revision": "5" * 40}
    ended = [*going, event("stage_finished", stage="download", result=result)]
    assert stage_rows(ended, {"download": result}, active=True)[0].text == "1 GiB of 2 GiB downloaded."
    here = result | {"fetched_bytes": 0}
    assert stage_rows(ended, {"download": here}, active=True)[0].text == "All 2 GiB were here already."
    assert [row.name for row in stage_rows([], {}, active=True)] == ["budgets", "baseline", "changes", "limit"]


def test_a_gguf_file_s_answer_says_that_it_is_not_llama_cpps_memory() -> None:
    note = "The GGUF file's weights were dequantized to bfloat16 when loaded: not your llama.cpp's memory."
    found = answer({"limit": {"context": 1, "weights_note": note}}, demo.question().as_json())
    assert found is not None
    assert found.weights_note == note
