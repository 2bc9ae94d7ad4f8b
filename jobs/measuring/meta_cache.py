"""The caches that a pass on meta fills, and what their layers turn out to hold."""

from collections.abc import Iterator
from typing import Any

import torch
from transformers import DynamicCache, QuantizedCache, StaticCache
from transformers.cache_utils import Cache

from jobs.sizing.strategy import GROUP_ELEMENTS, QUANTIZED_AXIS, RESIDUAL_TOKENS, CacheKind, Strategy


class CountedStaticCache(StaticCache):  # type: ignore[misc]
    """A static cache that is told how many tokens it holds: on meta its own counter has no value."""

    seen_tokens = 0

    def get_seq_length(self, layer_idx: int = 0) -> int:
        return self.seen_tokens

    def get_query_offset(self, layer_idx: int = 0) -> int:
        return self.seen_tokens


def make_cache(config: Any, strategy: Strategy, *, slots: int) -> Cache:
    """The cache that generate() makes for the strategy. Offloading caches are sized by the plain kind's pass."""
    if strategy.cache in (CacheKind.STATIC, CacheKind.OFFLOADED_STATIC):
        return CountedStaticCache(config=config, max_cache_len=slots)
    if strategy.is_quantized:
        return QuantizedCache(config=config, **quantized_settings(strategy))
    return DynamicCache(config=config)


def quantized_settings(strategy: Strategy) -> dict[str, Any]:
    backend = str(strategy.backend)
    if strategy.bits is None:
        return {"backend": backend}
    axis = QUANTIZED_AXIS[backend]
    return {
        "backend": backend,
        "nbits": strategy.bits,
        "axis_key": axis,
        "axis_value": axis,
        "q_group_size": GROUP_ELEMENTS,
        "residual_length": RESIDUAL_TOKENS,
    }


def layer_tensors(layer: Any) -> dict[str, torch.Tensor]:
    """The tensors that a cache layer keeps, by a path of names; counters (fewer than two dimensions) are no cache."""
    return {path: tensor for path, tensor in _walk(vars(layer), "") if tensor.dim() > 1}


def _walk(value: Any, path: str) -> Iterator[tuple[str, torch.Tensor]]:
    if isinstance(value, torch.Tensor):
        yield path, value
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from _walk(inner, f"{path}.{name}")
    elif isinstance(value, list | tuple):
        for index, inner in enumerate(value):
            yield from _walk(inner, f"{path}.{index}")


def storage_bytes(layer: Any) -> int:
    """What a layer keeps alive: the whole storages that its tensors look into, each once."""
    storages = {
        tensor.untyped_storage()._cdata: tensor.untyped_storage().nbytes() for tensor in layer_tensors(layer).values()
    }
    return sum(storages.values())
