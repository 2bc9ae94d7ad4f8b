"""What a question needs before anything is loaded, and what twice the context would."""

from dataclasses import replace

import pytest

from jobs.procedure.estimate import Estimator
from jobs.procedure.outlook import outlook
from jobs.procedure.question import Question
from jobs.procedure.verdict import Bounds
from jobs.sizing.record import LayerGroup, LayerKind, Phase, StoredWeights
from jobs.sizing.refusal import Refusal
from jobs.sizing.strategy import BASELINE
from tests.procedure.worlds import WEIGHTS_BYTES, question, record

KV_BYTES_A_TOKEN = 23_040
WINDOWED = (
    LayerGroup(
        kind=LayerKind.WINDOWED,
        count=20,
        heads=3,
        key_width=64,
        value_width=64,
        window_tokens=511,
        static_window_tokens=512,
    ),
    LayerGroup(kind=LayerKind.GROWING, count=10, heads=3, key_width=64, value_width=64),
)
PACKED = StoredWeights(
    method="fp8",
    bits=8,
    source="quantization_config",
    file_bytes=None,
    device_bytes={"bfloat16": WEIGHTS_BYTES // 2},
    dequantized=False,
)


def test_the_larger_phase_is_the_run_s_peak_to_the_byte() -> None:
    for prompt, answer in ((1024, 32), (64, 8192), (4096, 1)):
        asked = question(prompt_tokens=prompt, answer_tokens=answer)
        found = outlook(asked, record())
        assert found.peak.total_bytes == Estimator.of(asked, record(), BASELINE).at(prompt).peak_bytes


def test_the_prompt_s_cache_and_the_answer_s_are_told_apart() -> None:
    reading, answering = outlook(question(prompt_tokens=1024, answer_tokens=33), record()).phases
    assert (reading.phase, answering.phase) == (Phase.PREFILL, Phase.DECODE)
    assert (reading.kv_prompt_bytes, reading.kv_answer_bytes) == (1024 * KV_BYTES_A_TOKEN, 0)
    assert (answering.kv_prompt_bytes, answering.kv_answer_bytes) == (1024 * KV_BYTES_A_TOKEN, 32 * KV_BYTES_A_TOKEN)


def test_a_full_window_keeps_the_prompt_while_reading_and_grows_no_more_while_answering() -> None:
    reading, answering = outlook(question(prompt_tokens=1024, answer_tokens=33), record(layers=WINDOWED)).phases
    assert reading.kv_prompt_bytes == 1024 * KV_BYTES_A_TOKEN
    a_layer = KV_BYTES_A_TOKEN // 30
    assert answering.kv_prompt_bytes == (20 * 511 + 10 * 1024) * a_layer
    assert answering.kv_answer_bytes == 10 * 32 * a_layer


def test_it_fits_up_to_the_capacity_without_its_headroom() -> None:
    asked = question()
    found = outlook(asked, record())
    for spare, fits in ((0, True), (-1, False)):
        assert found.fits(Bounds.of(replace(asked, capacity_bytes=None), found.peak.total_bytes + spare)) is fits
    with_headroom = question(headroom_percent=10, capacity_bytes=found.peak.total_bytes)
    assert not found.fits(Bounds.of(with_headroom, 0))


def test_twice_the_context_doubles_a_growing_cache_and_leaves_the_weights() -> None:
    asked = question(prompt_tokens=4096, answer_tokens=256)
    doubling = outlook(asked, record()).doubling
    assert doubling.kv == pytest.approx((2 * 4352 - 1) / 4351)
    peak = outlook(asked, record()).peak.total_bytes
    twice = outlook(replace(asked, prompt_tokens=2 * 4352 - 256), record()).peak.total_bytes
    assert doubling.total == twice / peak
    assert not doubling.windowed


def test_twice_the_context_leaves_a_full_window_as_it_is() -> None:
    asked = question(prompt_tokens=4096, answer_tokens=256)
    doubling = outlook(asked, record(layers=WINDOWED[:1])).doubling
    assert doubling.kv == 1.0
    assert doubling.windowed


def test_random_weights_are_sized_unpacked_and_the_packed_size_is_told_beside() -> None:
    asked = question()
    drawn = outlook(asked, record(stored=PACKED, random_weights=True))
    assert (drawn.peak.weights_bytes, drawn.packed_weights_bytes) == (WEIGHTS_BYTES, WEIGHTS_BYTES // 2)
    loaded = outlook(asked, record(stored=PACKED))
    assert (loaded.peak.weights_bytes, loaded.packed_weights_bytes) == (WEIGHTS_BYTES // 2, None)


def test_a_way_of_attention_without_passes_is_refused() -> None:
    asked: Question = question(attention="eager")
    with pytest.raises(Refusal) as refused:
        outlook(asked, record())
    assert refused.value.code == "not_inspected"
