"""Rules of sizing that hold for whatever layers a model has: layers drawn at random."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from jobs.sizing.budgets import run_peak
from jobs.sizing.kv import envelope_bytes, host_bytes, kv_bytes, kv_prefill_bytes
from jobs.sizing.longest import MOST_TOKENS, longest_prompt, most_tokens_for_kv
from jobs.sizing.record import InspectionRecord, LayerGroup, LayerKind
from tests.sizing.records import record, strategy

widths = st.integers(1, 192)
counts = st.integers(1, 80)
heads = st.integers(1, 64)
states = st.integers(0, 100_000)
growing = st.builds(
    LayerGroup,
    kind=st.just(LayerKind.GROWING),
    count=counts,
    heads=heads,
    key_width=widths,
    value_width=widths,
    state_elements=states,
    state_float32_elements=states,
)
full = st.builds(
    LayerGroup, kind=st.just(LayerKind.GROWING), count=counts, heads=heads, key_width=widths, value_width=widths
)


@st.composite
def windowed(draw: st.DrawFn) -> LayerGroup:
    window = draw(st.integers(2, 9000))
    return LayerGroup(
        kind=LayerKind.WINDOWED,
        count=draw(counts),
        heads=draw(heads),
        key_width=draw(widths),
        value_width=draw(widths),
        window_tokens=window - 1,
        static_window_tokens=window,
    )


fixed = st.builds(
    LayerGroup,
    kind=st.just(LayerKind.FIXED),
    count=counts,
    state_elements=st.integers(1, 10**6),
    state_float32_elements=states,
)
shared = st.builds(LayerGroup, kind=st.just(LayerKind.SHARED), count=counts)
pooled = st.builds(
    LayerGroup,
    kind=st.just(LayerKind.GROWING),
    count=counts,
    heads=heads,
    key_width=widths,
    value_width=widths,
    pool=st.tuples(st.tuples(st.integers(1, 999), st.integers(1, 128))),
    pool_float32=st.tuples(st.tuples(st.integers(1, 999), st.integers(1, 128))),
)
any_layers = st.lists(growing | windowed() | fixed | shared | pooled, min_size=1, max_size=6).map(
    lambda layers: record(*layers)
)
full_layers = st.lists(full, min_size=1, max_size=4).map(lambda layers: record(*layers))
tokens = st.integers(1, 300_000)
plain = st.sampled_from(["default", "static", "offloaded", "offloaded_static", "chunked:64"]).map(strategy)
packed = st.sampled_from(
    ["quantized:hqq:8", "quantized:hqq:4", "quantized:hqq:2", "quantized:quanto:4", "quantized:quanto:2"]
).map(strategy)


@given(of=any_layers, n=tokens, more=st.integers(0, 9000), sequences=st.integers(1, 64), how=plain)
def test_bytes_never_fall_as_tokens_sequences_or_precision_grow(
    of: InspectionRecord, n: int, more: int, sequences: int, how: Any
) -> None:
    for size in (kv_bytes, host_bytes):
        held = size(of, tokens=n, sequences=sequences, dtype="bfloat16", strategy=how)
        assert 0 <= held <= size(of, tokens=n + more, sequences=sequences, dtype="bfloat16", strategy=how)
        assert held <= size(of, tokens=n, sequences=sequences + 1, dtype="bfloat16", strategy=how)
        assert held <= size(of, tokens=n, sequences=sequences, dtype="float32", strategy=how)


@given(of=any_layers, n=tokens, sequences=st.integers(1, 64), how=plain)
def test_the_prompt_never_holds_less_than_the_answer_starts_with(
    of: InspectionRecord, n: int, sequences: int, how: Any
) -> None:
    at: dict[str, Any] = {"tokens": n, "sequences": sequences, "dtype": "bfloat16", "strategy": how}
    assert kv_prefill_bytes(of, **at) >= kv_bytes(of, **at)


@given(of=any_layers, n=tokens, sequences=st.integers(1, 64), how=plain)
def test_sequences_are_in_proportion(of: InspectionRecord, n: int, sequences: int, how: Any) -> None:
    one = kv_bytes(of, tokens=n, sequences=1, dtype="bfloat16", strategy=how)
    assert kv_bytes(of, tokens=n, sequences=sequences, dtype="bfloat16", strategy=how) == sequences * one


@given(of=full_layers, n=tokens)
def test_twice_the_tokens_of_growing_layers_are_twice_the_bytes(of: InspectionRecord, n: int) -> None:
    once = kv_bytes(of, tokens=n, sequences=1, dtype="bfloat16", strategy=strategy("default"))
    assert kv_bytes(of, tokens=2 * n, sequences=1, dtype="bfloat16", strategy=strategy("default")) == 2 * once


@given(layer=windowed(), beyond=st.integers(0, 10**6), how=st.sampled_from(["default", "static"]).map(strategy))
def test_a_windowed_layer_stops_growing_at_its_window(layer: LayerGroup, beyond: int, how: Any) -> None:
    full_at = layer.static_window_tokens or 0
    at_window, later = (
        kv_bytes(record(layer), tokens=held, sequences=1, dtype="bfloat16", strategy=how)
        for held in (full_at, full_at + beyond)
    )
    assert at_window == later


@given(of=full_layers, n=tokens, answered=st.integers(0, 2000), more=st.integers(0, 2000), how=packed)
def test_the_envelope_of_a_quantized_cache_never_falls_and_is_never_exceeded(
    of: InspectionRecord, n: int, answered: int, more: int, how: Any
) -> None:
    def at(step: int) -> dict[str, Any]:
        return {
            "tokens": n + step,
            "sequences": 1,
            "dtype": "bfloat16",
            "strategy": how,
            "answered_tokens": step,
        }

    assert kv_bytes(of, **at(answered)) <= envelope_bytes(of, **at(answered))
    assert envelope_bytes(of, **at(answered)) <= envelope_bytes(of, **at(answered + more))


@given(of=any_layers, budget=st.integers(0, 2**45), sequences=st.integers(1, 9), how=plain)
def test_the_tokens_that_fit_a_budget_fit_and_one_more_does_not(
    of: InspectionRecord, budget: int, sequences: int, how: Any
) -> None:
    at: dict[str, Any] = {"sequences": sequences, "dtype": "bfloat16", "strategy": how}
    found = most_tokens_for_kv(of, budget_bytes=budget, **at)
    assert found == 0 or kv_bytes(of, tokens=found, **at) <= budget
    assert found == MOST_TOKENS or kv_bytes(of, tokens=found + 1, **at) > budget


@given(
    of=st.lists(growing | fixed | shared, min_size=1, max_size=5).map(lambda layers: record(*layers)),
    budget=st.integers(0, 2**42),
    answer=st.integers(1, 400),
)
def test_the_longest_prompt_and_the_peak_agree_at_a_step_of_four(
    of: InspectionRecord, budget: int, answer: int
) -> None:
    def peak(prompt: int) -> int:
        return run_peak(
            of,
            prompt_tokens=prompt,
            answer_tokens=answer,
            sequences=1,
            dtype="bfloat16",
            strategy=strategy("default"),
        ).peak_bytes

    found = longest_prompt(
        of,
        answer_tokens=answer,
        budget_bytes=budget,
        sequences=1,
        dtype="bfloat16",
        strategy=strategy("default"),
    )
    assert found is None or peak(found) <= budget
    assert found == MOST_TOKENS or peak((found or 0) + 4) > budget


def test_tokens_that_wait_for_a_whole_stride_count_where_they_are_most() -> None:
    layer = LayerGroup(kind=LayerKind.FIXED, count=1, pool=((10, 4),), buffer=((6, 4),))
    held = [
        kv_bytes(record(layer), tokens=n, sequences=1, dtype="bfloat16", strategy=strategy("default")) for n in range(9)
    ]
    assert held == [0, 12, 24, 36, 20, 32, 44, 56, 40]
    most = [
        most_tokens_for_kv(
            record(layer), budget_bytes=size, sequences=1, dtype="bfloat16", strategy=strategy("default")
        )
        for size in (11, 24, 36, 43, 56)
    ]
    assert most == [0, 2, 5, 5, 9]
