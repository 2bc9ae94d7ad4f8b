"""The bytes of quantized caches, against real ones."""

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from transformers import LlamaConfig, QuantizedCache

from jobs.measuring.meta_cache import quantized_settings
from jobs.sizing.kv import kv_bytes
from jobs.sizing.record import LayerGroup, LayerKind
from tests.sizing.records import record, strategy

HEADS, WIDTH = 2, 64
LAYER = LayerGroup(kind=LayerKind.GROWING, count=1, heads=HEADS, key_width=WIDTH, value_width=WIDTH)
CONFIG = LlamaConfig(hidden_size=128, num_hidden_layers=1, num_attention_heads=HEADS, num_key_value_heads=HEADS)
QUANTIZED = [
    "quantized:hqq:8",
    "quantized:hqq:4",
    "quantized:hqq:2",
    "quantized:quanto:4",
    "quantized:quanto:2",
    "quantized:fp8",
]


def tensors(value: Any) -> Iterator[torch.Tensor]:
    """Plain tensors within a quantized one: codes, scales, zero points. A single number for a tensor is no cache."""
    if isinstance(value, torch.Tensor) and hasattr(value, "__tensor_flatten__"):
        names, _ = value.__tensor_flatten__()
        for name in names:
            yield from tensors(getattr(value, name))
    elif isinstance(value, torch.Tensor):
        if value.dim() > 0:
            yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from tensors(inner)
    elif isinstance(value, tuple):
        for inner in value:
            yield from tensors(inner)


def held_bytes(cache: QuantizedCache) -> int:
    layer = cache.layers[0]
    kept = (layer._quantized_keys, layer._quantized_values)
    residual = () if "Fp8" in type(layer).__name__ else (layer.keys, layer.values)
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors((*kept, *residual)))


def feed(cache: QuantizedCache, sequences: int, tokens: int, dtype: torch.dtype) -> None:
    shape = (sequences, HEADS, tokens, WIDTH)
    cache.update(torch.randn(shape, dtype=dtype), torch.randn(shape, dtype=dtype), 0)


@pytest.mark.parametrize("name", QUANTIZED)
def test_keys_and_values_of_different_widths_are_reckoned_apart(name: str) -> None:
    """As in latent attention: one head, a wide key and a narrow value."""
    cache = QuantizedCache(config=CONFIG, **quantized_settings(strategy(name)))
    prompt = torch.randn(1, 1, 96, 40, dtype=torch.bfloat16), torch.randn(1, 1, 96, 24, dtype=torch.bfloat16)
    cache.update(*prompt, 0)
    latent = record(LayerGroup(kind=LayerKind.GROWING, count=1, heads=1, key_width=40, value_width=24))
    at: dict[str, Any] = {"sequences": 1, "dtype": "bfloat16", "strategy": strategy(name)}
    assert held_bytes(cache) == kv_bytes(latent, tokens=96, answered_tokens=0, **at)
    cache.update(*(part[:, :, :1] for part in prompt), 0)
    assert held_bytes(cache) == kv_bytes(latent, tokens=97, answered_tokens=1, **at)


@pytest.mark.parametrize(("dtype", "sequences"), [("bfloat16", 2), ("float32", 1)])
@pytest.mark.parametrize("name", QUANTIZED)
def test_a_quantized_cache_holds_what_is_reckoned(name: str, sequences: int, dtype: str) -> None:
    cache = QuantizedCache(config=CONFIG, **quantized_settings(strategy(name)))
    held = {}
    feed(cache, sequences, 64, getattr(torch, dtype))
    held[0] = held_bytes(cache)
    for answered in range(1, 130):
        feed(cache, sequences, 1, getattr(torch, dtype))
        held[answered] = held_bytes(cache)
    for answered in (0, 1, 127, 128, 129):
        reckoned = kv_bytes(
            record(LAYER),
            tokens=64 + answered,
            sequences=sequences,
            dtype=dtype,
            strategy=strategy(name),
            answered_tokens=answered,
        )
        assert reckoned == held[answered], answered


@pytest.mark.parametrize(
    ("name", "ratio"),
    [("quantized:quanto:4", 0.28125), ("quantized:quanto:2", 0.15625), ("quantized:hqq:8", 0.53125)],
)
def test_the_share_of_bfloat16_after_a_prompt_is_as_published(name: str, ratio: float) -> None:
    llama = record(LayerGroup(kind=LayerKind.GROWING, count=2, heads=8, key_width=128, value_width=128))

    def after(of: str) -> int:
        return kv_bytes(llama, tokens=512, sequences=1, dtype="bfloat16", strategy=strategy(of), answered_tokens=0)

    assert after("default") == 4_194_304
    assert after(name) == ratio * after("default")
