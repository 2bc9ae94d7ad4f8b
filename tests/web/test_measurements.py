"""The tables beside the plots: what is noisy, retried or tainted is shown, and nothing stands in for a figure."""

from typing import Any

import pytest
from django.template.loader import render_to_string

from jobs.web.presenters.measurements import MeasurementRow, measurement_rows

MEASURED: dict[str, Any] = {
    "strategy": "default",
    "context": 288,
    "prompt": 256,
    "answer": 32,
    "sequences": 1,
    "outcome": "ok",
    "peak_bytes": 2**28,
    "ttft_s": 1.0,
    "decode_tokens_per_s": 12.0,
    "all_tokens_per_s": 12.0,
    "inter_token_p50_s": 0.081,
    "inter_token_p95_s": 0.25,
    "total_s": 3.6,
    "repeats": 3,
    "spread": 0.024,
    "ttft_spread": 0.01,
    "noisy": False,
}


def shown(**changes: Any) -> MeasurementRow:
    return measurement_rows([MEASURED | changes], {})[0]


def tables(**changes: Any) -> tuple[str, str]:
    page = {"page": {"measurements": [shown(**changes)]}}
    return render_to_string("run/memory_table.html", page), render_to_string("run/speed_table.html", page)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, "± 1.2 %"),
        ({"noisy": True, "ttft_spread": 0.31}, "± 15.5 %, noisy"),
        ({"repeats": 1, "spread": None, "ttft_spread": None}, ""),
        ({"spread": None, "ttft_spread": 0.2, "noisy": True}, "± 10.0 %, noisy"),
    ],
)
def test_repeats_say_how_far_they_lie_apart(changes: dict[str, Any], expected: str) -> None:
    assert shown(**changes).repeats == expected


def test_why_a_process_is_fresh_and_what_else_used_the_device_stand_in_both_tables() -> None:
    why = {"fresh_process": "50 MiB were still held after the points before", "tainted": "Python took 1 GiB."}
    for table in tables(**why):
        assert "fresh process: 50 MiB were still held" in table
        assert "disturbed: Python took 1 GiB." in table
    assert not any("fresh process" in table or "disturbed" in table for table in tables())


def test_the_time_between_tokens_is_shown_and_noise_is_marked() -> None:
    _, speed = tables(noisy=True)
    assert "81.0 / 250" in speed
    assert 'class="sub bad">± 1.2 %, noisy' in speed


@pytest.mark.parametrize(("sequences", "is_shown"), [(1, False), (4, True)])
def test_the_speed_of_all_sequences_is_shown_where_there_are_several(sequences: int, is_shown: bool) -> None:
    _, speed = tables(sequences=sequences, all_tokens_per_s=12.0 * sequences)
    assert (f"48.0 for all {sequences}" in speed) is is_shown


def test_a_measurement_of_an_earlier_release_has_dashes_where_it_has_no_figures() -> None:
    old = {name: value for name, value in MEASURED.items() if name not in ("inter_token_p50_s", "all_tokens_per_s")}
    page = {"page": {"measurements": measurement_rows([old | {"noisy": None}], {})}}
    speed = render_to_string("run/speed_table.html", page)
    assert '<td class="number">–</td>' in speed
    assert "for all" not in speed


def test_what_did_not_run_has_its_reason_and_no_figure() -> None:
    nothing = dict.fromkeys(("peak_bytes", "ttft_s", "decode_tokens_per_s", "total_s", "inter_token_p50_s"))
    memory, speed = tables(outcome="failed", error={"code": "hung", "message": "It hung."}, **nothing)
    assert "It hung." in memory
    assert "288" not in speed
