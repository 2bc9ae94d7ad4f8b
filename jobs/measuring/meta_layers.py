"""What the layers of a filled dynamic cache hold, read from their tensors and never from the model's name."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import torch

from jobs.measuring.meta_storage import storage_key
from jobs.sizing.record import LayerGroup, LayerKind

READ_BYTES = 2
STATES = ("conv_states", "recurrent_states")
Tensors = Mapping[str, torch.Tensor]


class UnknownLayout(ValueError):
    """A cache tensor that grows in a way that no layer group describes."""


def read_layers(
    short: Sequence[Tensors],
    long: Sequence[Tensors],
    *,
    short_tokens: int,
    long_tokens: int,
    windows: Sequence[int | None],
) -> list[LayerGroup]:
    """Each layer, from the tensors of one sequence at two lengths (no multiples of a stride), in bfloat16."""
    return [
        _layer(before, after, short_tokens, long_tokens, window)
        for before, after, window in zip(short, long, windows, strict=True)
    ]


def _layer(before: Tensors, after: Tensors, short_tokens: int, long_tokens: int, window: int | None) -> LayerGroup:
    extras = {path: (before.get(path), tensor) for path, tensor in after.items() if path not in (".keys", ".values")}
    states = {path: pair for path, pair in extras.items() if _is_fixed(path, pair)}
    moving = {path: pair for path, pair in extras.items() if path not in states}
    compute = sum(after.numel() for _, after in states.values() if after.dtype is not torch.float32)
    wide = sum(after.numel() for _, after in states.values() if after.dtype is torch.float32)
    pool, wide_pool = (
        tuple(sorted(filter(None, (_pool(pair, short_tokens, long_tokens) for pair in pairs))))
        for pairs in _by_width(moving.values())
    )
    strides = {stride for _, stride in pool}
    buffer = tuple(
        sorted(
            _buffer(path, pair, short_tokens, long_tokens, strides)
            for path, pair in moving.items()
            if _pool(pair, short_tokens, long_tokens) is None
        )
    )
    layer = LayerGroup(
        kind=LayerKind.FIXED if extras else LayerKind.SHARED,
        count=1,
        state_elements=compute,
        state_float32_elements=wide,
        pool=pool,
        pool_float32=wide_pool,
        buffer=buffer,
    )
    keys, values = after.get(".keys"), after.get(".values")
    if keys is None or values is None or keys.numel() == 0:
        return layer
    if keys.dtype is torch.float32 or values.dtype is torch.float32:
        raise UnknownLayout("keys and values stay in float32 whatever the precision")
    return replace(
        layer,
        kind=LayerKind.GROWING if window is None else LayerKind.WINDOWED,
        heads=keys.shape[1],
        key_width=keys.shape[-1],
        value_width=0 if _is_same(keys, values) else values.shape[-1],
        window_tokens=None if window is None else window - 1,
        static_window_tokens=window,
    )


def _is_same(keys: torch.Tensor, values: torch.Tensor) -> bool:
    """Whether values are the keys themselves, stored once."""
    return storage_key(keys) == storage_key(values) and keys.storage_offset() == values.storage_offset()


Pair = tuple[torch.Tensor | None, torch.Tensor]


def _by_width(pairs: Iterable[Pair]) -> tuple[list[Pair], list[Pair]]:
    """Those in the compute precision, and those that stay in float32."""
    every = list(pairs)
    return [p for p in every if p[1].dtype is not torch.float32], [p for p in every if p[1].dtype is torch.float32]


def _is_fixed(path: str, pair: Pair) -> bool:
    before, after = pair
    return is_state(path) or (before is not None and before.shape == after.shape)


def _entries(pair: Pair) -> tuple[int, int, int]:
    """Entries at the short and at the long length, and the elements of one entry."""
    before, after = pair
    if before is None:
        return 0, after.shape[1], after.numel() // max(1, after.shape[1])
    moved = [dim for dim in range(after.dim()) if before.shape[dim] != after.shape[dim]]
    if len(moved) != 1:
        raise UnknownLayout(f"a cache tensor went from {tuple(before.shape)} to {tuple(after.shape)}")
    dim = moved[0]
    entry = max(before.numel() // max(1, before.shape[dim]), after.numel() // max(1, after.shape[dim]))
    return before.shape[dim], after.shape[dim], entry


def _pool(pair: Pair, short_tokens: int, long_tokens: int) -> tuple[int, int] | None:
    """(elements, stride) where one entry is added for every whole stride of tokens."""
    first, last, entry = _entries(pair)
    if last <= first:
        return None
    stride = round((long_tokens - short_tokens) / (last - first))
    for candidate in (stride, stride - 1, stride + 1):
        if candidate > 0 and short_tokens // candidate == first and long_tokens // candidate == last:
            return entry, candidate
    return None


def _buffer(path: str, pair: Pair, short_tokens: int, long_tokens: int, strides: set[int]) -> tuple[int, int]:
    """(elements, stride) where the tokens since the last whole stride wait."""
    first, last, entry = _entries(pair)
    for stride in sorted(strides):
        if short_tokens % stride == first and long_tokens % stride == last:
            return entry, stride
    raise UnknownLayout(f"{path.strip('.')} holds {first} entries at {short_tokens} tokens and {last} at {long_tokens}")


def with_prompts(
    layers: Sequence[LayerGroup], short_bytes: Sequence[int], long_bytes: Sequence[int], lengths: tuple[int, int]
) -> list[LayerGroup]:
    """Layers that pool their tokens also keep alive what the pool was made from: told by storages at two lengths."""
    return [
        replace(layer, prompt_elements=_prompt_elements(layer, after - before, lengths)) if layer.pool else layer
        for layer, before, after in zip(layers, short_bytes, long_bytes, strict=True)
    ]


def _prompt_elements(layer: LayerGroup, more_bytes: int, lengths: tuple[int, int]) -> int:
    """Elements alive for each token of the prompt, beside the pool's whole entries; read in bfloat16."""
    short, long = lengths
    pooled_bytes = layer.pool_bytes(long, READ_BYTES) - layer.pool_bytes(short, READ_BYTES)
    return (more_bytes - pooled_bytes) // (READ_BYTES * (long - short))


def grouped(layers: Sequence[LayerGroup]) -> tuple[LayerGroup, ...]:
    """Neighbours alike as one group; raises UnknownLayout where none of them would ever hold a byte."""
    if not any(map(_holds_something, layers)):
        raise UnknownLayout("its cache would hold nothing")
    groups: list[LayerGroup] = []
    for layer in layers:
        if groups and replace(groups[-1], count=1) == layer:
            groups[-1] = replace(groups[-1], count=groups[-1].count + 1)
        else:
            groups.append(layer)
    return tuple(groups)


def _holds_something(layer: LayerGroup) -> bool:
    attends = layer.token_elements > 0 and layer.window_tokens != 0
    return attends or layer.state_elements + layer.state_float32_elements > 0 or bool(layer.pool or layer.pool_float32)


def is_state(path: str) -> bool:
    """Whether one length tells all about a tensor: keys and values, or a state of constant size."""
    return path in (".keys", ".values") or path.split(".")[1] in STATES
