"""Calls of a model's modules that were made before: layers alike, and steps alike, need not be gone through again."""

import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import nn

from jobs.measuring.meta_shapes import fills_its_storage, shape_key

PLAIN = (type(None), bool, int, float, str, torch.dtype, torch.device)
KNOWABLE = (torch.Tensor, *PLAIN)


class Live(Protocol):
    """What counts living memory while modules are called."""

    live_bytes: int
    peak_bytes: int
    operations: int

    def owns(self, tensor: torch.Tensor) -> bool: ...


@dataclass(frozen=True, kw_only=True)
class Call:
    """What a call left: the memory that it needed beside what was there, and the answer's shapes."""

    needed_bytes: int
    operations: int
    in_tuple: bool
    answer: tuple[tuple[torch.Size, tuple[int, ...], torch.dtype] | None, ...]


class SeenCalls:
    """Remembers calls that take tensors and numbers alone, and leave nothing behind but new tensors as their answer.

    Whoever is handed a cache, or keeps something, is gone through each time. Modules are alike when their classes,
    parameters' shapes, numbers and whatever else they refer to are.
    """

    def __init__(self) -> None:
        self._calls: dict[Any, Call | None] = {}
        self._kinds: weakref.WeakKeyDictionary[nn.Module, Any] = weakref.WeakKeyDictionary()

    @classmethod
    def of(cls, model: nn.Module) -> "SeenCalls":
        """One for all passes of a model, as long as the model lives."""
        return _OF_MODELS.setdefault(model, cls())

    def through(self, live: Live, plain: Callable[..., Any]) -> Callable[..., Any]:
        """`nn.Module.__call__` as it is to be while `live` counts."""

        def call(module: nn.Module, *args: Any, **kwargs: Any) -> Any:
            key = self._key(module, args, kwargs)
            if key is None:
                return plain(module, *args, **kwargs)
            known = self._calls.get(key)
            if known is not None:
                return _again(known, live)
            if key in self._calls:
                return plain(module, *args, **kwargs)
            return self._watched(key, live, lambda: plain(module, *args, **kwargs), [*args, *kwargs.values()])

        return call

    def _watched(self, key: Any, live: Live, run: Callable[[], Any], given: Sequence[Any]) -> Any:
        before, peak, operations = live.live_bytes, live.peak_bytes, live.operations
        live.peak_bytes = before
        answer = run()
        needed, live.peak_bytes = live.peak_bytes - before, max(peak, live.peak_bytes)
        parts = answer if type(answer) is tuple else (answer,)
        self._calls[key] = None
        if _is_all_that_is_left(parts, live, live.live_bytes - before):
            self._calls[key] = Call(
                needed_bytes=needed,
                operations=live.operations - operations,
                in_tuple=type(answer) is tuple,
                answer=tuple(None if part is None else (part.shape, part.stride(), part.dtype) for part in parts),
            )
        return answer

    def _key(self, module: nn.Module, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """None for a call that is not to be remembered: of a single operation, or given more than plain values."""
        if type(module).__module__.startswith("torch.nn") or module._forward_hooks or module._forward_pre_hooks:
            return None
        try:
            given = tuple(map(_plain, args)), tuple((name, _plain(value)) for name, value in kwargs.items())
        except TypeError:
            return None
        if module not in self._kinds:
            self._kinds[module] = _kind(module)
        return self._kinds[module], given


_OF_MODELS: weakref.WeakKeyDictionary[nn.Module, SeenCalls] = weakref.WeakKeyDictionary()


def _plain(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return tuple(map(_plain, value))
    if isinstance(value, KNOWABLE):
        return shape_key(value)
    raise TypeError(type(value).__name__)


def _kind(module: nn.Module) -> Any:
    tensors = [*module.named_parameters(), *module.named_buffers()]
    return (
        tuple((name, tuple(tensor.shape), tensor.dtype) for name, tensor in tensors),
        tuple((type(part), _attributes(part)) for part in module.modules()),
    )


def _attributes(module: nn.Module) -> tuple[tuple[str, Any], ...]:
    """Numbers and words by their value; functions, configs and all else by being the same one."""
    return tuple(
        (name, (type(value), value) if isinstance(value, PLAIN) else id(value))
        for name, value in vars(module).items()
        if not name.startswith("_")
    )


def _is_all_that_is_left(parts: Sequence[Any], live: Live, more_bytes: int) -> bool:
    """Whether the answer is new tensors of their own storage, and nothing else is kept or was let go."""
    tensors = [part for part in parts if part is not None]
    if not all(isinstance(part, torch.Tensor) and fills_its_storage(part) and live.owns(part) for part in tensors):
        return False
    storages = {part.untyped_storage()._cdata: part.untyped_storage().nbytes() for part in tensors}
    return len(storages) == len(tensors) and sum(storages.values()) == more_bytes


def _again(call: Call, live: Live) -> Any:
    live.peak_bytes = max(live.peak_bytes, live.live_bytes + call.needed_bytes)
    live.operations += call.operations - sum(part is not None for part in call.answer)
    answer = [
        None if part is None else torch.empty_strided(part[0], part[1], dtype=part[2], device="meta")
        for part in call.answer
    ]
    return tuple(answer) if call.in_tuple else answer[0]
