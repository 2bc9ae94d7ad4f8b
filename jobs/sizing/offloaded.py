"""Which parts of which layers an offloading cache moves to CPU RAM.

Source: `offload` and `prefetch` of transformers' caches and cache layers (5.24), which need CUDA to run.
"""

from collections.abc import Callable, Iterable

from jobs.sizing.layer_bytes import attention_bytes, cached_tokens, group_bytes, is_static, state_bytes
from jobs.sizing.record import InspectionRecord, LayerGroup, LayerKind
from jobs.sizing.strategy import Strategy

RESIDENT_LAYERS = 2  # the layer at work and the next one, fetched ahead


def is_moved(group: LayerGroup, strategy: Strategy) -> bool:
    """Whether an offloading cache moves this layer: never constant state, and windows only in a dynamic cache."""
    if group.kind is LayerKind.WINDOWED:
        return not is_static(strategy)
    return group.kind is LayerKind.GROWING


def stays_bytes(group: LayerGroup, tokens: int, sequences: int, element: int, strategy: Strategy) -> int:
    """Bytes of a moved layer that stay on the device.

    A full layer goes whole, with its state and its indexer's keys, which only a static one keeps. Of a window go keys
    and values alone; where it has a linear state beside it, that alone goes.
    """
    pool = sequences * group.pool_bytes(tokens, element)
    if group.kind is not LayerKind.WINDOWED:
        return pool if is_static(strategy) else 0
    if has_state(group):
        return attention_bytes(group, tokens, sequences, element, strategy)
    return pool + sequences * group.buffer_bytes(tokens, element) + state_bytes(group, sequences, element)


def has_state(group: LayerGroup) -> bool:
    """Whether a layer carries a linear state beside its attention; what compressed attention keeps is none."""
    return not group.pool and group.state_elements + group.state_float32_elements > 0


def moved_bytes(group: LayerGroup, tokens: int, sequences: int, element: int, strategy: Strategy) -> int:
    """Bytes in CPU RAM. Keys that are their own values are copied twice."""
    whole = group_bytes(group, tokens, sequences, element, strategy)
    again = 0 if group.value_width else cached_tokens(group, tokens, strategy) * group.token_elements * element
    return whole - stays_bytes(group, tokens, sequences, element, strategy) + sequences * again


def device_bytes(
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
