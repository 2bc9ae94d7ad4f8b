"""Bytes of the KV cache by arithmetic over layers."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.sizing.kv import envelope_bytes, host_bytes, kv_bytes, kv_prefill_bytes
from jobs.sizing.record import InspectionRecord, LayerGroup, LayerKind
from tests.sizing.records import FIXED, GROWING, SHARED, STRATEGIES, WINDOWED, record, strategy

MIXED = record(GROWING, WINDOWED, FIXED, SHARED)
FULL = record(GROWING)


def kv(of: InspectionRecord, tokens: int, name: str = "default", sequences: int = 1, dtype: str = "bfloat16") -> int:
    return kv_bytes(of, tokens=tokens, sequences=sequences, dtype=dtype, strategy=strategy(name))


def prefill(of: InspectionRecord, tokens: int, name: str = "default") -> int:
    return kv_prefill_bytes(of, tokens=tokens, sequences=1, dtype="bfloat16", strategy=strategy(name))


def test_a_growing_layer_holds_every_token_with_keys_and_values_of_their_own_width() -> None:
    assert kv(FULL, 100, sequences=3) == 4 * 3 * 100 * 2 * (64 + 32) * 2
    assert kv(FULL, 100, dtype="float32") == 2 * kv(FULL, 100)


def test_a_windowed_layer_stops_growing() -> None:
    of = record(WINDOWED)
    assert kv(of, 14) < kv(of, 15) == kv(of, 16) == kv(of, 10_000) == 3 * 15 * 2 * 128 * 2


def test_a_static_window_has_one_slot_more() -> None:
    assert kv(record(WINDOWED), 10_000, "static") == 3 * 16 * 2 * 128 * 2


def test_constant_state_is_partly_in_float32_whatever_the_precision() -> None:
    of = record(FIXED)
    assert kv(of, 1) == kv(of, 10_000) == 2 * (100 * 2 + 50 * 4)
    assert kv(of, 1, dtype="float32") == 2 * (100 * 4 + 50 * 4)


def test_a_shared_layer_stores_nothing() -> None:
    assert kv(record(SHARED), 10_000) == 0


def test_a_windowed_layer_keeps_the_whole_prompt_alive_after_a_one_shot_prefill() -> None:
    of = record(WINDOWED)
    assert prefill(of, 400) == 3 * 400 * 2 * 128 * 2
    assert prefill(of, 400, "static") == kv(of, 400, "static")


def test_after_a_chunked_prefill_it_keeps_the_window_and_the_last_chunk() -> None:
    of = record(WINDOWED)
    row = 3 * 2 * 128 * 2
    assert prefill(of, 400, "chunked:8") == (15 + 8) * row
    assert prefill(of, 402, "chunked:8") == (15 + 2) * row
    assert prefill(of, 8, "chunked:8") == 8 * row
    assert prefill(of, 12, "chunked:8") == 12 * row


def test_an_offloaded_cache_leaves_two_layers_on_the_device_and_needs_the_whole_in_cpu_ram() -> None:
    layer = 100 * 2 * 96 * 2
    assert kv(FULL, 100, "offloaded") == 2 * layer
    assert host_bytes(FULL, tokens=100, sequences=1, dtype="bfloat16", strategy=strategy("offloaded")) == 4 * layer
    assert host_bytes(FULL, tokens=100, sequences=1, dtype="bfloat16", strategy=strategy("default")) == 0


def test_constant_state_and_static_windows_are_never_offloaded() -> None:
    of = record(WINDOWED, FIXED, GROWING)
    moved = host_bytes(of, tokens=100, sequences=1, dtype="bfloat16", strategy=strategy("offloaded_static"))
    assert moved == kv(FULL, 100)
    on_device = kv(of, 100, "offloaded_static")
    assert on_device == kv(record(WINDOWED, FIXED), 100, "static") + kv(FULL, 100) // 2


def test_an_offloading_cache_moves_of_each_layer_what_its_class_moves() -> None:
    """A full layer with its state and indexer; of a window its keys and values; no static layer's indexer."""
    at: dict[str, Any] = {"tokens": 100, "sequences": 1, "dtype": "bfloat16"}
    hybrid = record(replace(GROWING, count=1, state_elements=30, state_float32_elements=10))
    assert host_bytes(hybrid, **at, strategy=strategy("offloaded")) == 100 * 2 * 96 * 2 + 30 * 2 + 10 * 4
    indexed = record(replace(GROWING, count=1, pool=((5, 1),), pool_float32=((3, 1),)))
    keys_and_values, indexer = 100 * 2 * 96 * 2, 100 * (5 * 2 + 3 * 4)
    assert host_bytes(indexed, **at, strategy=strategy("offloaded")) == keys_and_values + indexer
    assert host_bytes(indexed, **at, strategy=strategy("offloaded_static")) == keys_and_values
    stateful = record(replace(WINDOWED, count=1, state_elements=30))
    assert host_bytes(stateful, **at, strategy=strategy("offloaded")) == 30 * 2
    compressed = record(replace(WINDOWED, count=1, value_width=0, state_elements=9, pool=((7, 4),), buffer=((2, 4),)))
    twice = 2 * 15 * 2 * 64 * 2
    assert host_bytes(compressed, **at, strategy=strategy("offloaded")) == twice
    assert kv(compressed, 100, "offloaded") == kv(compressed, 100)


def test_the_residual_of_a_quantized_cache_grows_with_the_answer_and_is_emptied_every_128_tokens() -> None:
    def at(answered: int) -> int:
        return kv_bytes(
            FULL,
            tokens=1024 + answered,
            sequences=1,
            dtype="bfloat16",
            strategy=strategy("quantized:hqq:4"),
            answered_tokens=answered,
        )

    assert at(127) - at(126) == 4 * 2 * 96 * 2
    assert at(128) < at(127)


def test_the_envelope_of_a_quantized_cache_is_never_below_what_it_held_on_the_way() -> None:
    held = [
        kv_bytes(
            FULL,
            tokens=512 + answered,
            sequences=1,
            dtype="bfloat16",
            strategy=strategy("quantized:quanto:4"),
            answered_tokens=answered,
        )
        for answered in range(300)
    ]
    envelope = envelope_bytes(
        FULL,
        tokens=811,
        sequences=1,
        dtype="bfloat16",
        strategy=strategy("quantized:quanto:4"),
        answered_tokens=299,
    )
    assert max(held) <= envelope


def test_after_a_chunked_prefill_compressed_attention_keeps_what_its_last_forward_joined() -> None:
    layer = replace(WINDOWED, count=1, pool=((7, 8),), buffer=((2, 8),), prompt_elements=300)
    row, beside = 256, 300 - 256
    assert prefill(record(layer), 100) == 2 * (100 * 300 + 12 * 7)
    assert prefill(record(layer), 100, "chunked:12") == 2 * ((15 + 4) * row + 4 * beside + 12 * 7)
    assert prefill(record(layer), 44, "chunked:12") == 2 * ((15 + 8) * row + (36 % 8 + 8) * beside + 5 * 7)


def test_pools_hold_an_entry_a_stride_and_buffers_the_tokens_since() -> None:
    layer = LayerGroup(kind=LayerKind.FIXED, count=1, pool=((10, 4),), buffer=((6, 4),))
    assert [kv(record(layer), tokens) // 2 for tokens in (3, 4, 9)] == [18, 10, 26]


@pytest.mark.parametrize("name", STRATEGIES)
@settings(max_examples=20)
@given(tokens=st.integers(1, 20_000), more=st.integers(0, 20_000), sequences=st.integers(1, 8))
def test_more_tokens_or_sequences_never_need_fewer_bytes(name: str, tokens: int, more: int, sequences: int) -> None:
    of = FULL if "quantized" in name else MIXED
    assert kv(of, tokens, name, sequences) <= kv(of, tokens + more, name, sequences)
    assert kv(of, tokens, name, sequences) <= kv(of, tokens, name, sequences + 1)
