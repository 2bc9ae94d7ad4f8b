"""Every strategy on a tiny Llama: its bytes are the formula's, and only its own settings differ."""

from collections.abc import Callable
from typing import Any

import pytest

from jobs.procedure.measurement import Measurement, Outcome
from jobs.sizing.strategy import GROUP_ELEMENTS, Strategy
from jobs.sizing.units import MIB
from tests.measuring.conftest import LLAMA, MISTRAL, TOKEN_ELEMENTS, Tiny

Measure = Callable[..., Measurement]
FLOAT32 = 4
CACHED_TOKENS = 256 + 8 - 1
STRATEGY_SETTINGS = {"cache_implementation", "cache_config", "prefill_chunk_size"}
RUNNING = [
    "static",
    "quantized:hqq:8",
    "quantized:hqq:4",
    "quantized:hqq:2",
    "quantized:quanto:4",
    "quantized:quanto:2",
    "quantized:fp8",
    "chunked:64",
    "static+chunked:64",
    "quantized:hqq:4+chunked:64",
]


def quantized_bytes(bits: int) -> int:
    """The prompt in codes, a scale and a zero point a group; the answer's tokens unquantized."""
    prompt_elements = 256 * TOKEN_ELEMENTS
    groups = prompt_elements // GROUP_ELEMENTS
    return prompt_elements * bits // 8 + groups * 2 * FLOAT32 + (8 - 1) * TOKEN_ELEMENTS * FLOAT32


KV_BYTES = {
    "default": CACHED_TOKENS * TOKEN_ELEMENTS * FLOAT32,
    "static": CACHED_TOKENS * TOKEN_ELEMENTS * FLOAT32,
    "chunked:64": CACHED_TOKENS * TOKEN_ELEMENTS * FLOAT32,
    "static+chunked:64": CACHED_TOKENS * TOKEN_ELEMENTS * FLOAT32,
    "quantized:hqq:8": quantized_bytes(8),
    "quantized:hqq:4": quantized_bytes(4),
    "quantized:hqq:2": quantized_bytes(2),
    "quantized:quanto:4": quantized_bytes(4),
    "quantized:quanto:2": quantized_bytes(2),
    "quantized:fp8": CACHED_TOKENS * TOKEN_ELEMENTS,
}


@pytest.mark.parametrize("strategy", list(KV_BYTES))
def test_the_cache_holds_what_its_kind_should(llama: Measure, strategy: str) -> None:
    found = llama(strategy)
    assert found.outcome is Outcome.OK, found.error
    assert found.kv_bytes == KV_BYTES[strategy]
    assert found.host_bytes == 0


@pytest.mark.parametrize("strategy", RUNNING)
def test_only_the_strategys_own_settings_differ_from_the_baseline(llama: Measure, strategy: str) -> None:
    baseline, change = llama("default").settings, llama(strategy).settings
    assert baseline.keys() == change.keys()
    differing = {name for name in baseline if baseline[name] != change[name]}
    assert differing
    assert differing <= STRATEGY_SETTINGS
    if Strategy.parse(strategy).chunk_tokens is None:
        assert "prefill_chunk_size" not in differing


def test_the_answer_has_exactly_the_tokens_asked_for_and_its_clocks(llama: Measure) -> None:
    found = llama(answer_tokens=16)
    assert found.settings["max_new_tokens"] == found.settings["min_new_tokens"] == 16
    assert found.kv_bytes == (256 + 16 - 1) * TOKEN_ELEMENTS * FLOAT32
    assert found.ttft_s is not None
    assert found.total_s is not None
    assert found.decode_tokens_per_s is not None
    decode_s = 15 / found.decode_tokens_per_s
    assert found.ttft_s + decode_s <= found.total_s


def test_an_answer_of_one_token_has_no_decode_speed(llama: Measure) -> None:
    found = llama(answer_tokens=1)
    assert found.outcome is Outcome.OK
    assert found.decode_tokens_per_s is None


def test_each_sequence_has_a_cache_of_its_own(llama: Measure) -> None:
    assert llama(sequences=3).kv_bytes == 3 * KV_BYTES["default"]


def test_a_static_cache_forgets_the_longer_one_before_it(llama: Measure) -> None:
    llama("static", prompt_tokens=512)
    assert llama("static").kv_bytes == KV_BYTES["static"]


def test_the_three_budgets_add_up_to_the_peak(tiny: Tiny) -> None:
    weights_bytes = tiny.load(LLAMA).weights_bytes
    found = tiny.measure(prompt_tokens=1024)
    assert found.peak_bytes is not None
    assert found.working_bytes is not None
    kv = {found.kv_bytes, found.kv_prefill_bytes}
    assert found.peak_bytes - weights_bytes - found.working_bytes in kv


def test_the_times_between_tokens_leave_out_what_is_read_between_prompt_and_answer(llama: Measure) -> None:
    found = llama(answer_tokens=16, sequences=2, least_repeats=2, most_repeats=2)
    assert found.inter_token_p50_s is not None
    assert found.inter_token_p95_s is not None
    assert found.decode_tokens_per_s is not None
    assert found.total_s is not None
    assert found.ttft_s is not None
    assert 0 < found.inter_token_p50_s <= found.inter_token_p95_s < found.total_s
    assert found.all_tokens_per_s == 2 * found.decode_tokens_per_s
    assert found.ttft_spread is not None
    assert found.peak_spread_bytes is not None
    assert found.peak_spread_bytes <= MIB


def test_a_warm_up_comes_once_for_a_shape_and_is_within_the_seconds_of_generating(llama: Measure) -> None:
    first = llama(prompt_tokens=300, answer_tokens=16)
    again = llama(prompt_tokens=300, answer_tokens=16)
    assert first.warm_s is not None
    assert first.generate_s is not None
    assert again.generate_s is not None
    assert 0 < first.warm_s < first.generate_s
    assert again.warm_s is None
    assert again.total_s is not None
    assert again.generate_s >= again.total_s * 0.9


def test_a_point_finds_the_memory_that_the_first_one_found(llama: Measure) -> None:
    held = [llama(prompt_tokens=tokens).leaked_bytes for tokens in (64, 512, 128, 1024, 64)]
    found = [one for one in held if one is not None]
    assert len(found) == len(held)
    assert max(found) - min(found) <= 2 * MIB


def test_repeats_give_a_spread(llama: Measure) -> None:
    found = llama(least_repeats=2, most_repeats=2)
    assert found.repeats == 2
    assert found.spread is not None
    assert found.spread >= 0


def test_repeats_stop_at_the_most_asked_for(llama: Measure) -> None:
    assert llama(least_repeats=1, most_repeats=3).repeats <= 3


@pytest.mark.parametrize("strategy", ["offloaded", "offloaded_static"])
def test_offloading_on_a_cpu_is_not_applicable_and_says_why(llama: Measure, strategy: str) -> None:
    found = llama(strategy)
    assert found.outcome is Outcome.SKIPPED
    assert found.error is not None
    assert found.error["code"] == "not_applicable"
    assert "CUDA" in found.error["message"]
    assert found.peak_bytes is None


def test_a_windowed_cache_holds_the_prompt_until_the_first_step(tiny: Tiny) -> None:
    tiny.load(MISTRAL)
    found = tiny.measure()
    assert found.kv_bytes == (16 - 1) * TOKEN_ELEMENTS * FLOAT32
    assert found.kv_prefill_bytes == 256 * TOKEN_ELEMENTS * FLOAT32


def test_a_quantized_cache_on_a_windowed_model_fails_with_its_reason(tiny: Tiny) -> None:
    tiny.load(MISTRAL)
    found = tiny.measure("quantized:hqq:4")
    assert found.outcome is Outcome.FAILED
    assert found.error is not None
    assert found.error["code"] == "strategy_failed"
    assert "full attention" in found.error["message"]
    assert tiny.measure().outcome is Outcome.OK


def test_every_family_is_applicable_or_says_why(tiny: Tiny) -> None:
    warmed: dict[str, Any] = tiny.process.request("warm", patience_s=300, device="cpu")
    reasons = {name: reason for name, reason in warmed["applicable"].items() if reason is not True}
    assert set(reasons) == {"offloaded", "offloaded_static"}
