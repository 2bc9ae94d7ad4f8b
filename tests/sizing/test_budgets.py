"""The budgets of a point, of a run, and the longest prompt that fits them."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.sizing.budgets import RunPeak, run_peak, size_point
from jobs.sizing.longest import longest_prompt
from jobs.sizing.record import InspectionRecord, Phase
from jobs.sizing.refusal import Refusal
from tests.sizing.records import FIXED, GROWING, STRATEGIES, WINDOWED, record, strategy

FULL = record(GROWING)
MIXED = record(GROWING, WINDOWED, FIXED)


def peak(of: InspectionRecord, prompt: int, name: str = "default", answer: int = 10) -> RunPeak:
    return run_peak(
        of, prompt_tokens=prompt, answer_tokens=answer, sequences=1, dtype="bfloat16", strategy=strategy(name)
    )


@pytest.mark.parametrize("name", STRATEGIES)
@settings(max_examples=20)
@given(tokens=st.integers(1, 20_000))
def test_a_peak_is_weights_and_cache_and_working_memory_exactly(name: str, tokens: int) -> None:
    of = FULL if "quantized" in name else MIXED
    point = size_point(of, tokens=tokens, sequences=1, dtype="bfloat16", strategy=strategy(name))
    cache = point.kv_prefill_bytes if point.peak_phase is Phase.PREFILL else point.kv_bytes
    assert point.peak_bytes == 1000 + cache + point.working_bytes
    assert point.as_json()["peak_phase"] in ("prefill", "decode")


@pytest.mark.parametrize("name", STRATEGIES)
@settings(max_examples=20)
@given(prompt=st.integers(1, 5000), more=st.integers(0, 5000), answer=st.integers(1, 600))
def test_a_longer_prompt_never_peaks_lower(name: str, prompt: int, more: int, answer: int) -> None:
    of = FULL if "quantized" in name else record(GROWING, FIXED)
    assert peak(of, prompt, name, answer).peak_bytes <= peak(of, prompt + more, name, answer).peak_bytes


@given(prompt=st.integers(1, 5000), answer=st.integers(2, 600))
def test_a_run_holds_at_its_end_one_token_less_than_its_context(prompt: int, answer: int) -> None:
    assert peak(FULL, prompt, answer=answer).kv_bytes == (prompt + answer - 1) * 4 * 2 * 96 * 2


def test_a_static_cache_is_as_large_during_the_prefill_as_at_the_end() -> None:
    found = peak(FULL, 100, "static", answer=900)
    assert found.kv_prefill_bytes == found.kv_bytes == 999 * 4 * 2 * 96 * 2
    assert peak(FULL, 100, answer=900).kv_prefill_bytes == 100 * 4 * 2 * 96 * 2


def test_a_strategy_that_the_model_cannot_take_is_refused_with_the_reason_and_saves_nothing() -> None:
    of = record(WINDOWED, refusals={"quantized": "Not all of its layers are full attention."})
    with pytest.raises(Refusal) as refused:
        size_point(of, tokens=10, sequences=1, dtype="bfloat16", strategy=strategy("quantized:quanto:4"))
    assert (refused.value.code, refused.value.message) == (
        "not_applicable",
        "Not all of its layers are full attention.",
    )


@pytest.mark.parametrize("name", STRATEGIES)
@settings(max_examples=20)
@given(budget=st.integers(1000, 10**8), answer=st.integers(1, 300))
def test_the_longest_prompt_fits_and_the_next_does_not(name: str, budget: int, answer: int) -> None:
    longest = longest_prompt(
        FULL,
        answer_tokens=answer,
        budget_bytes=budget,
        sequences=1,
        dtype="bfloat16",
        strategy=strategy(name),
    )
    if longest is None:
        assert peak(FULL, 4, name, answer).peak_bytes > budget
        return
    assert longest % 4 == 0
    assert peak(FULL, longest, name, answer).peak_bytes <= budget
    assert peak(FULL, longest + 4, name, answer).peak_bytes > budget


def test_the_longest_prompt_keeps_to_the_model_s_own_maximum() -> None:
    found = longest_prompt(
        FULL,
        answer_tokens=1,
        budget_bytes=10**12,
        sequences=1,
        dtype="bfloat16",
        strategy=strategy("default"),
        most_tokens=1026,
    )
    assert found == 1024


@pytest.mark.parametrize("sequences", [1, 64])
def test_a_chunked_prefill_is_never_smaller_for_a_few_tokens_more(sequences: int) -> None:
    """After its last whole chunk a windowed layer gives back what the chunk held: the peak stood before that."""
    of = record(WINDOWED, GROWING)
    peaks = [
        size_point(of, tokens=tokens, sequences=sequences, dtype="bfloat16", strategy=strategy("chunked:8")).peak_bytes
        for tokens in range(1, 200)
    ]
    assert peaks == sorted(peaks)
