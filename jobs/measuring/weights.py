"""Weights in bytes: what the model's tensors hold, with all that packed weights keep beside their codes."""

from collections.abc import Iterable, Iterator, Mapping
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import torch

WALKED_BY_THEMSELVES = (torch.nn.Module,)
HOLD_NO_WEIGHTS = (type, ModuleType, FunctionType, MethodType, BuiltinFunctionType, str, bytes)


def weights_bytes(model: torch.nn.Module) -> int:
    """Storages of the tensors that the model keeps: tied weights once."""
    return storage_bytes(held_tensors(model))


def storage_bytes(tensors: Iterable[torch.Tensor]) -> int:
    """Each storage once. Tensors that are views into one mapped file share its storage; of that, only what they cover
    counts."""
    covered: dict[tuple[str, int], dict[tuple[int, int], None]] = {}
    sizes: dict[tuple[str, int], int] = {}
    for tensor in tensors:
        storage = tensor.untyped_storage()
        place = str(tensor.device), storage.data_ptr()
        sizes[place] = storage.nbytes()
        covered.setdefault(place, {})[(tensor.storage_offset(), tensor.nbytes)] = None
    return sum(min(size, sum(nbytes for _, nbytes in covered[place])) for place, size in sizes.items())


def held_tensors(model: torch.nn.Module) -> Iterator[torch.Tensor]:
    """Every tensor that is reached from the modules, whatever holds it; some more than once.

    Packed weights keep part of themselves where no parameter or buffer is: bitsandbytes its scales, tables and nested
    scales on the parameter (`quant_state`) or the module (`state`); others wrap several tensors into one.
    """
    seen: dict[int, Any] = {}
    for module in model.modules():
        yield from _within(vars(module), seen)


def parameters(model: torch.nn.Module) -> int:
    """Elements, tied weights once. Of packed weights these are their codes, several weights to one."""
    return sum(parameter.numel() for parameter in model.parameters())


def _within(value: Any, seen: dict[int, Any]) -> Iterator[torch.Tensor]:
    if id(value) in seen or isinstance(value, (*WALKED_BY_THEMSELVES, *HOLD_NO_WEIGHTS)):
        return
    seen[id(value)] = value  # kept, lest another object be given its number
    if isinstance(value, Mapping):
        inside = list(value.values())
    elif isinstance(value, (list, tuple, set, frozenset)):
        inside = list(value)
    else:
        inside = list(getattr(value, "__dict__", {}).values())
    if isinstance(value, torch.Tensor):
        inside += _wrapped(value)
        if not _is_wrapper(value) and value.device.type != "meta":
            yield value
    for one in inside:
        yield from _within(one, seen)


def _is_wrapper(tensor: torch.Tensor) -> bool:
    """Whether it has no storage of its own."""
    return hasattr(tensor, "__tensor_flatten__")


def _wrapped(tensor: torch.Tensor) -> list[torch.Tensor]:
    if not _is_wrapper(tensor):
        return []
    names, _ = tensor.__tensor_flatten__()
    return [getattr(tensor, name) for name in names]
