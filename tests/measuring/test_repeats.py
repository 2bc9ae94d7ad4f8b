"""How many passes a point gets, and what is said of them."""

from dataclasses import replace
from typing import Any

import pytest

from jobs.measuring.generating import Pass
from jobs.measuring.repeats import SHORT_S, agree, decode_spread, enough, is_noisy, peak_spread_bytes, ttft_spread
from jobs.procedure.measurement import Ask
from jobs.sizing.strategy import BASELINE
from jobs.sizing.units import MIB

ONE = Pass(
    peak_bytes=1000,
    kv_at_peak_bytes=100,
    kv_bytes=100,
    kv_prefill_bytes=90,
    host_bytes=0,
    ttft_s=1.0,
    decode_tokens_per_s=10.0,
    intervals_s=(0.1, 0.1),
    total_s=3.0,
)


def ask(**fields: float) -> Ask:
    given: dict[str, Any] = {"prompt_tokens": 64, "answer_tokens": 3, "sequences": 1, "capacity_bytes": MIB}
    return Ask(stage="baseline", strategy=BASELINE, **given | fields)


SHORT = replace(ONE, total_s=SHORT_S / 2)
SLOWER = replace(ONE, decode_tokens_per_s=9.0)
LATER = replace(ONE, ttft_s=1.2)
HIGHER = replace(ONE, peak_bytes=1020)


@pytest.mark.parametrize(
    ("passes", "least", "most", "expected"),
    [
        ([], 1, 1, False),
        ([ONE], 1, 1, True),
        ([SHORT], 1, 1, True),
        ([ONE], 1, 2, True),
        ([SHORT], 1, 2, False),
        ([SHORT, SHORT], 1, 2, True),
        ([SHORT, SLOWER], 1, 2, True),
        ([ONE], 2, 4, False),
        ([ONE, ONE], 2, 4, True),
        ([ONE, SLOWER], 2, 4, False),
        ([ONE, LATER], 2, 4, False),
        ([ONE, HIGHER], 2, 4, False),
        ([ONE, SLOWER, ONE, SLOWER], 2, 4, True),
    ],
)
def test_passes_are_made_until_they_agree_or_the_most_were_made(
    passes: list[Pass], least: int, most: int, expected: bool
) -> None:
    assert enough(passes, ask(least_repeats=least, most_repeats=most)) is expected


@pytest.mark.parametrize(
    ("bound", "expected"),
    [
        ({"budget_bytes": 1000 + MIB // 2}, [False, False, True]),
        ({"budget_bytes": 1000 + MIB}, [True, True, True]),
        ({"min_decode_tokens_per_s": 9.6}, [False, False, True]),
        ({"min_decode_tokens_per_s": 9.0}, [True, True, True]),
        ({"max_ttft_s": 1.04}, [False, False, True]),
        ({"max_ttft_s": 1.2}, [True, True, True]),
        ({}, [True, True, True]),
    ],
)
def test_a_point_that_luck_could_push_over_a_bound_is_measured_three_times(
    bound: dict[str, float], expected: list[bool]
) -> None:
    asked = ask(**bound)
    assert [enough([ONE] * made, asked) for made in (1, 2, 3)] == expected


def test_one_pass_has_no_spread_and_is_not_noisy() -> None:
    assert (decode_spread([ONE]), ttft_spread([ONE]), peak_spread_bytes([ONE])) == (None, None, None)
    assert not is_noisy([ONE])


def test_the_spreads_are_of_the_median_and_of_bytes() -> None:
    passes = [ONE, SLOWER, replace(ONE, ttft_s=1.5, peak_bytes=1030)]
    assert decode_spread(passes) == pytest.approx(0.1)
    assert ttft_spread(passes) == pytest.approx(0.5)
    assert peak_spread_bytes(passes) == 30


@pytest.mark.parametrize("other", [SLOWER, LATER, HIGHER])
def test_repeats_that_lie_apart_in_anything_are_noisy(other: Pass) -> None:
    assert is_noisy([ONE, other])
    assert agree([ONE, ONE])


def test_an_answer_of_one_token_agrees_by_its_first_token_alone() -> None:
    single = replace(ONE, decode_tokens_per_s=None, intervals_s=())
    assert agree([single, single])
    assert not agree([single, replace(single, ttft_s=2.0)])
