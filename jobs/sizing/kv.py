"""Bytes of the KV cache, by arithmetic over the layers that the inspection found."""

from collections.abc import Callable, Iterable

from jobs.sizing import quantized
from jobs.sizing.record import FLOAT32_BYTES, InspectionRecord, LayerGroup, LayerKind
from jobs.sizing.strategy import CacheKind, Strategy
from jobs.sizing.units import dtype_bytes

RESIDENT_LAYERS = 2  # the layer at work and the next one, fetched ahead


def kv_bytes(
    record: InspectionRecord,
    *,
    tokens: int,
    sequences: int,
    dtype: str,
    strategy: Strategy,
    answered_tokens: int = 1,
) -> int:
    """Bytes on the device while answering, with `tokens` cached per sequence, `answered_tokens` of them decoded.

    An offloading strategy's device share is its two largest layers and what is never offloaded.
    """
    element = dtype_bytes(dtype)
    if strategy.is_quantized:
        residual = min(tokens, quantized.residual_tokens(strategy, answered_tokens))
        return _quantized_bytes(record, tokens, residual, sequences, element, strategy)
    at = (tokens, sequences, element, strategy)
    return _device_bytes(
        record, strategy, lambda group: _group_bytes(group, *at), lambda group: _stays_bytes(group, *at)
    )


def kv_prefill_bytes(record: InspectionRecord, *, tokens: int, sequences: int, dtype: str, strategy: Strategy) -> int:
    """Bytes on the device that the cache keeps alive right after the prompt of `tokens`, in whole storages.

    After a one-shot prefill a windowed layer's dynamic cache holds the whole prompt (its window is a view of it);
    after a chunked one, the window and the last chunk.
    """
    element = dtype_bytes(dtype)
    if strategy.is_quantized:
        return _quantized_bytes(record, tokens, 0, sequences, element, strategy)

    def held(group: LayerGroup) -> int:
        if group.kind is LayerKind.WINDOWED and not is_static(strategy):
            return _held_after_prefill(group, tokens, sequences, element, strategy)
        return _group_bytes(group, tokens, sequences, element, strategy)

    return _device_bytes(
        record, strategy, held, lambda group: _stays_bytes(group, tokens, sequences, element, strategy)
    )


def host_bytes(record: InspectionRecord, *, tokens: int, sequences: int, dtype: str, strategy: Strategy) -> int:
    """CPU RAM that an offloading strategy needs: what it moves of every layer. 0 for the others."""
    if not strategy.is_offloaded:
        return 0
    element = dtype_bytes(dtype)
    return sum(
        group.count * _moved_bytes(group, tokens, sequences, element, strategy)
        for group in record.layers
        if is_moved(group, strategy)
    )


def envelope_bytes(
    record: InspectionRecord, *, tokens: int, sequences: int, dtype: str, strategy: Strategy, answered_tokens: int
) -> int:
    """The most that the cache held at any step up to this one: differs from `kv_bytes` for quantized caches alone."""
    if not strategy.is_quantized:
        return kv_bytes(record, tokens=tokens, sequences=sequences, dtype=dtype, strategy=strategy)
    residual = min(tokens, quantized.most_residual_tokens(strategy, answered_tokens))
    return _quantized_bytes(record, tokens, residual, sequences, dtype_bytes(dtype), strategy)


def is_static(strategy: Strategy) -> bool:
    return strategy.cache in (CacheKind.STATIC, CacheKind.OFFLOADED_STATIC)


def is_moved(group: LayerGroup, strategy: Strategy) -> bool:
    """Whether an offloading cache moves this layer: never constant state, and windows only in a dynamic cache."""
    if group.kind is LayerKind.WINDOWED:
        return not is_static(strategy)
    return group.kind is LayerKind.GROWING


def cached_tokens(group: LayerGroup, tokens: int, strategy: Strategy) -> int:
    """Tokens that one layer of the group holds for one sequence, once steady."""
    if group.kind is LayerKind.GROWING:
        return tokens
    if group.kind is LayerKind.WINDOWED:
        window = group.static_window_tokens if is_static(strategy) else group.window_tokens
        return tokens if window is None else min(tokens, window)
    return 0


def _attention_bytes(group: LayerGroup, tokens: int, sequences: int, element: int, strategy: Strategy) -> int:
    """Bytes of one layer's attention cache: all but its constant state."""
    held = cached_tokens(group, tokens, strategy) * group.token_elements * element
    return sequences * (held + group.pool_bytes(tokens, element) + group.buffer_bytes(tokens, element))


def _state_bytes(group: LayerGroup, sequences: int, element: int) -> int:
    return sequences * (group.state_elements * element + group.state_float32_elements * FLOAT32_BYTES)


def _group_bytes(group: LayerGroup, tokens: int, sequences: int, element: int, strategy: Strategy) -> int:
    return _attention_bytes(group, tokens, sequences, element, strategy) + _state_bytes(group, sequences, element)


def _held_after_prefill(group: LayerGroup, tokens: int, sequences: int, element: int, strategy: Strategy) -> int:
    """Of a windowed layer: what its last forward joined, the window's tokens from before and those just fed."""
    fed = tokens
    if strategy.chunk_tokens is not None and tokens > strategy.chunk_tokens:
        fed = tokens % strategy.chunk_tokens or strategy.chunk_tokens
    earlier = tokens - fed
    kept = earlier if group.window_tokens is None else min(earlier, group.window_tokens)
    held = (kept + fed) * group.token_elements * element + group.pool_bytes(tokens, element)
    if group.prompt_elements is None:
        held += group.buffer_bytes(tokens, element)
    else:
        waiting = earlier % max(stride for _, stride in group.pool)
        held += (waiting + fed) * (group.prompt_elements - group.token_elements) * element
    return sequences * held + _state_bytes(group, sequences, element)


def _stays_bytes(group: LayerGroup, tokens: int, sequences: int, element: int, strategy: Strategy) -> int:
    """What an offloading cache leaves on the device of a layer that it moves.

    Source: `offload` of transformers' cache layers. A full layer goes whole, with its state and its indexer's keys,
    which only a static one keeps; of a window go keys and values alone.
    """
    pool = sequences * group.pool_bytes(tokens, element)
    if group.kind is LayerKind.WINDOWED:
        return pool + sequences * group.buffer_bytes(tokens, element) + _state_bytes(group, sequences, element)
    return pool if is_static(strategy) else 0


def _moved_bytes(group: LayerGroup, tokens: int, sequences: int, element: int, strategy: Strategy) -> int:
    """Bytes in CPU RAM. Keys that are their own values are copied twice."""
    whole = _group_bytes(group, tokens, sequences, element, strategy)
    again = 0 if group.value_width else cached_tokens(group, tokens, strategy) * group.token_elements * element
    return whole - _stays_bytes(group, tokens, sequences, element, strategy) + sequences * again


def _device_bytes(
    record: InspectionRecord,
    strategy: Strategy,
    layer_bytes: Callable[[LayerGroup], int],
    stays_bytes: Callable[[LayerGroup], int],
) -> int:
    """Bytes of all layers, or of the largest moved ones and all that stays."""
    if not strategy.is_offloaded:
        return sum(group.count * layer_bytes(group) for group in record.layers)
    stays = 0
    moved: list[int] = []
    for group in record.layers:
        kept = stays_bytes(group) if is_moved(group, strategy) else layer_bytes(group)
        stays += group.count * kept
        moved += [layer_bytes(group) - kept] * min(group.count, RESIDENT_LAYERS)
    return stays + _largest(moved, RESIDENT_LAYERS)


def _largest(sizes: Iterable[int], count: int) -> int:
    return sum(sorted(sizes, reverse=True)[:count])


def _quantized_bytes(
    record: InspectionRecord, tokens: int, residual: int, sequences: int, element: int, strategy: Strategy
) -> int:
    total = 0
    for group in record.layers:
        for width in (group.key_width, group.value_width):
            row = sequences * group.heads * width
            codes = quantized.tensor_bytes(strategy, row * (tokens - residual), element)
            total += group.count * (codes + row * residual * element)
        total += group.count * _state_bytes(group, sequences, element)
    return total
