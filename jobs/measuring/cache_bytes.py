"""KV bytes read from the cache's own tensors, whatever kind of cache the model made."""

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

# The names of a forward pass's cache, newest first: transformers called it past_key_values until 5.x.
CACHE_NAMES = ("cache", "past_key_values", "cache_params")


def cache_of(output: Any) -> Any:
    """The cache in a forward pass's output; None where the model returns none."""
    return next((output[name] for name in CACHE_NAMES if name in output and output[name] is not None), None)


def cache_keyword(model: Any) -> str:
    """What a forward pass of this model takes its cache as, and answers it as."""
    older = "past_key_values"
    return older if older in inspect.signature(model.forward).parameters else "cache"


@contextmanager
def cache_caught(model: Any, keep: Callable[[Any], None]) -> Iterator[None]:
    """`keep` is given the cache of the first forward pass within; None where the model returns none.

    Asking generate() to return its cache can change how it decodes.
    """

    def catch(_module: Any, _inputs: Any, output: Any) -> None:
        keep(cache_of(output))
        hook.remove()

    hook = model.register_forward_hook(catch)
    try:
        yield
    finally:
        hook.remove()


def held_bytes(cache: Any, *, on: str) -> int:
    """Bytes of the storages that the cache keeps alive on a kind of device ("cuda") or one of them ("cuda:1").

    What a view keeps is counted whole.
    """
    storages = {}
    for tensor in _tensors(cache):
        if _is_on(tensor, on):
            storage = tensor.untyped_storage()
            storages[storage.data_ptr()] = storage.nbytes()
    return sum(storages.values())


def used_bytes(cache: Any, *, on: str) -> int:
    """Bytes of the cache's tensors there: codes, scales, zeros, the unquantized rest, linear states."""
    return sum(tensor.nelement() * tensor.element_size() for tensor in _tensors(cache) if _is_on(tensor, on))


def _is_on(tensor: torch.Tensor, on: str) -> bool:
    return on in (tensor.device.type, str(tensor.device))


def _tensors(cache: Any) -> Iterator[torch.Tensor]:
    """Each distinct data tensor of every layer; counters (tensors without dimensions) hold no tokens."""
    seen: set[int] = set()
    layers = getattr(cache, "layers", None)
    for tensor in _within(layers if layers is not None else vars(cache)):
        if tensor.dim() and id(tensor) not in seen:
            seen.add(id(tensor))
            yield tensor


def _within(value: Any) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        if hasattr(value, "__tensor_flatten__"):  # a wrapper (quanto's): its parts hold the bytes
            names, _ = value.__tensor_flatten__()
            for name in names:
                yield from _within(getattr(value, name))
        else:
            yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from _within(part)
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from _within(part)
    elif type(value).__module__.startswith("transformers") and hasattr(value, "__dict__"):
        yield from _within(vars(value))
