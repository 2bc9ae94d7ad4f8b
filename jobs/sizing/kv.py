"""Bytes of the KV cache, by arithmetic over the layers that the inspection found."""

from jobs.sizing import quantized
from jobs.sizing.layer_bytes import group_bytes, held_after_prefill, is_static, state_bytes
from jobs.sizing.offloaded import device_bytes, is_moved, moved_bytes, stays_bytes
from jobs.sizing.record import InspectionRecord, LayerGroup, LayerKind
from jobs.sizing.strategy import Strategy
from jobs.sizing.units import dtype_bytes


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
    return device_bytes(record, strategy, lambda group: group_bytes(group, *at), lambda group: stays_bytes(group, *at))


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
            return held_after_prefill(group, tokens, sequences, element, strategy)
        return group_bytes(group, tokens, sequences, element, strategy)

    return device_bytes(record, strategy, held, lambda group: stays_bytes(group, tokens, sequences, element, strategy))


def host_bytes(record: InspectionRecord, *, tokens: int, sequences: int, dtype: str, strategy: Strategy) -> int:
    """CPU RAM that an offloading strategy needs: what it moves of every layer. 0 for the others."""
    if not strategy.is_offloaded:
        return 0
    element = dtype_bytes(dtype)
    return sum(
        group.count * moved_bytes(group, tokens, sequences, element, strategy)
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


def _quantized_bytes(
    record: InspectionRecord, tokens: int, residual: int, sequences: int, element: int, strategy: Strategy
) -> int:
    total = 0
    for group in record.layers:
        for width in (group.key_width, group.value_width):
            row = sequences * group.heads * width
            codes = quantized.tensor_bytes(strategy, row * (tokens - residual), element)
            total += group.count * (codes + row * residual * element)
        total += group.count * state_bytes(group, sequences, element)
    return total
