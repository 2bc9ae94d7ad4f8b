"""Bytes of one layer's part of the KV cache, of all sequences, on the device that it is used on."""

from jobs.sizing.record import FLOAT32_BYTES, LayerGroup, LayerKind
from jobs.sizing.strategy import CacheKind, Strategy


def is_static(strategy: Strategy) -> bool:
    return strategy.cache in (CacheKind.STATIC, CacheKind.OFFLOADED_STATIC)


def cached_tokens(group: LayerGroup, tokens: int, strategy: Strategy) -> int:
    """Tokens that one layer of the group holds for one sequence, once steady."""
    if group.kind is LayerKind.GROWING:
        return tokens
    if group.kind is LayerKind.WINDOWED:
        window = group.static_window_tokens if is_static(strategy) else group.window_tokens
        return tokens if window is None else min(tokens, window)
    return 0


def attention_bytes(group: LayerGroup, tokens: int, sequences: int, element: int, strategy: Strategy) -> int:
    """Bytes of one layer's attention cache: all but its constant state."""
    held = cached_tokens(group, tokens, strategy) * group.token_elements * element
    return sequences * (held + group.pool_bytes(tokens, element) + group.buffer_bytes(tokens, element))


def state_bytes(group: LayerGroup, sequences: int, element: int) -> int:
    """Bytes of one layer's constant state, partly in float32 whatever the precision."""
    return sequences * (group.state_elements * element + group.state_float32_elements * FLOAT32_BYTES)


def group_bytes(group: LayerGroup, tokens: int, sequences: int, element: int, strategy: Strategy) -> int:
    """Bytes of one layer of the group, once steady."""
    return attention_bytes(group, tokens, sequences, element, strategy) + state_bytes(group, sequences, element)


def held_after_prefill(group: LayerGroup, tokens: int, sequences: int, element: int, strategy: Strategy) -> int:
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
    return sequences * held + state_bytes(group, sequences, element)
