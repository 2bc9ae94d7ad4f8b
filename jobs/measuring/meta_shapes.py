"""Answers of operations on meta that were reckoned before: a model asks the same of the same shapes over and over."""

import weakref
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from jobs.measuring.meta_unknowns import found_entries

_Answers = dict[Any, tuple[torch.Size, tuple[int, ...], torch.dtype]]
_UNASKED: _Answers = {}


class SeenShapes:
    """Operation and argument shapes -> the shape of the answer. On meta there is nothing else to know.

    Many of PyTorch's own shape rules are Python programs that take a fifth of a millisecond a call; a pass makes
    thousands. Only operations that answer with one new tensor are remembered, never views or writes in place.
    """

    def __init__(self) -> None:
        self._seen: dict[Any, _Answers | None] = {}

    @classmethod
    def of(cls, model: torch.nn.Module) -> "SeenShapes":
        """One for all passes of a model, as long as the model lives."""
        return _OF_MODELS.setdefault(model, cls())

    def answer(self, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """What `func(*args, **kwargs)` answers; the new tensor is not the same object, but alike."""
        if func is torch.ops.aten.nonzero.default and args[0].is_meta:
            return found_entries(args[0])
        answers = self._seen.get(func, _UNASKED)
        if answers is _UNASKED:
            answers = self._seen[func] = {} if _has_one_new_answer(func._schema) else None
        if answers is None:
            return func(*args, **kwargs)
        try:
            key = (
                tuple(map(shape_key, args)),
                tuple((name, shape_key(value)) for name, value in kwargs.items()) if kwargs else (),
            )
            seen = answers.get(key)
        except TypeError:  # an argument that cannot be looked up
            return func(*args, **kwargs)
        if seen is not None:
            shape, strides, dtype = seen
            return torch.empty_strided(shape, strides, dtype=dtype, device="meta")
        out = func(*args, **kwargs)
        if _is_new(out, args):
            answers[key] = (out.shape, out.stride(), out.dtype)
        return out


_OF_MODELS: weakref.WeakKeyDictionary[torch.nn.Module, SeenShapes] = weakref.WeakKeyDictionary()


def _has_one_new_answer(schema: Any) -> bool:
    returned = [(value.alias_info, str(value.type)) for value in schema.returns]
    return returned == [(None, "Tensor")] and all(argument.alias_info is None for argument in schema.arguments)


def shape_key(value: Any) -> Any:
    """All that an answer's shape can depend on; a number says its type too, since 1 and 1.0 promote unlike."""
    if isinstance(value, torch.Tensor):
        if not value.is_meta:
            raise TypeError("a tensor with values may be a number in disguise, which promotes in its own way")
        return value.shape, value.stride(), value.dtype
    if isinstance(value, list | tuple):
        return tuple(map(shape_key, value))
    return type(value), value


def _is_new(out: Any, args: Sequence[Any]) -> bool:
    """Whether `out` fills a storage of its own: some operations answer with a view though they do not say so."""
    if not fills_its_storage(out):
        return False
    owners = [leaf.untyped_storage()._cdata for leaf in tree_leaves(args) if isinstance(leaf, torch.Tensor)]
    return out.untyped_storage()._cdata not in owners


def fills_its_storage(tensor: Any) -> bool:
    """Whether a plain tensor on meta is all that its storage is for, so that one made by its shape is alike."""
    if type(tensor) is not torch.Tensor or not tensor.is_meta or tensor.layout is not torch.strided:
        return False
    alike = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device="meta")
    return bool(tensor.untyped_storage().nbytes() == alike.untyped_storage().nbytes())
