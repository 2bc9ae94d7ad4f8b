"""A GPU run's own figures on its page: the CUDA context, and each card where there are several."""

from typing import Any

import pytest
from django.template.loader import render_to_string

from jobs.procedure.budgets import of_cards
from jobs.procedure.measurement import Measurement, Outcome
from jobs.sizing.units import GIB, MIB
from jobs.web.presenters.budgets import budgets


def card(weights_bytes: int) -> dict[str, int]:
    return {
        "weights_bytes": weights_bytes,
        "kv_bytes": 3 * MIB,
        "context_bytes": 500 * MIB,
        "peak_bytes": weights_bytes + GIB,
        "reserved_bytes": weights_bytes + 2 * GIB,
        "device_used_bytes": weights_bytes + 3 * GIB,
    }


def result(**by_device: dict[str, int]) -> dict[str, Any]:
    measured = Measurement(
        strategy="default",
        context=100,
        prompt=96,
        answer=4,
        sequences=1,
        outcome=Outcome.OK,
        by_device={name.replace("_", ":"): figures for name, figures in by_device.items()} or None,
    )
    part = {"estimated_bytes": GIB, "measured_bytes": GIB, "error_percent": 0.0}
    rest = dict.fromkeys(("weights", "kv", "working", "peak"), part)
    workload = {"context": 100, "weights_bytes": GIB, "kv_bytes": GIB, "working_bytes": GIB, "peak_bytes": GIB}
    known = {"headroom_bytes": 0, "capacity_bytes": 24 * GIB, "at_context": 100, "workload": workload}
    return rest | known | of_cards(measured)


def page(**by_device: dict[str, int]) -> str:
    return render_to_string("run/budgets.html", {"budgets": budgets(result(**by_device))})


def test_the_context_is_said_to_be_part_of_the_working_memory() -> None:
    assert "Working memory includes the CUDA context: 500 MiB, which" in page(cuda_0=card(10 * GIB))


def test_each_card_has_its_row_and_the_fullest_is_said_to_decide() -> None:
    text = page(cuda_0=card(10 * GIB), cuda_1=card(8 * GIB))
    assert "the CUDA context: 1000 MiB on 2 cards together" in text
    for figure in ("cuda:0", "cuda:1", "10 GiB", "8 GiB", "11 GiB", "12 GiB", "13 GiB", "3 MiB"):
        assert figure in text
    assert "Each card may take 12 GiB" in text
    assert "the fullest decides" in text
    assert "even split" in text


@pytest.mark.parametrize("words", ["CUDA", "Card", "fullest"])
def test_a_run_on_a_processor_says_nothing_of_cards(words: str) -> None:
    assert words not in page()
