"""Skipping layers that are like others: a pass over 126 layers needs no more working memory than one over a few."""

import contextlib
from collections.abc import Hashable, Iterator, Sequence
from typing import Any

import torch
from torch import nn


class Skipped(nn.Module):  # type: ignore[misc]
    """Stands for a layer that is not run: hands on the hidden states in the shape of that layer's answer."""

    def __init__(self, layer: nn.Module, *, in_tuple: bool, extras: int) -> None:
        super().__init__()
        self.in_tuple = in_tuple
        self.extras = extras
        # Models look at their layers' attributes (attention_type, layer_type) before they call them.
        self.__dict__["layer"] = layer

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(self.__dict__["layer"], name)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        hidden = args[0] if args else kwargs["hidden_states"]
        return (hidden, *([None] * self.extras)) if self.in_tuple else hidden


def find_stack(model: nn.Module, layers: int) -> nn.ModuleList | None:
    """The list of the model's decoder layers, if it has one: the last with as many as the cache has.

    A list inside such a list (a layer's experts) is none.
    """
    stacks = {
        name: module
        for name, module in model.named_modules()
        if isinstance(module, nn.ModuleList) and len(module) == layers
    }
    outer = [module for name, module in stacks.items() if not any(name.startswith(f"{other}.") for other in stacks)]
    return outer[-1] if outer else None


def kept_layers(kinds: Sequence[Hashable]) -> set[int]:
    """The first and the last layer of each kind, and the one before each last.

    The last meets all that earlier ones left in the cache; the model may still hold what the one before answered.
    """
    first = {kind: index for index, kind in reversed(list(enumerate(kinds)))}
    last = {kind: index for index, kind in enumerate(kinds)}
    before = {index - 1 for index in last.values() if index > 0}
    return {*first.values(), *last.values(), *before}


def module_kind(module: nn.Module) -> Hashable:
    """Layers with the same classes and the same parameter shapes compute alike."""
    shapes = tuple((name, tuple(parameter.shape)) for name, parameter in module.named_parameters())
    classes = tuple(type(inner).__name__ for inner in module.modules())
    return shapes, classes


class AnswerShapes:
    """Notes, while a whole model runs, whether each layer answers with a tensor or a tuple."""

    def __init__(self, stack: nn.ModuleList | None) -> None:
        self.stack = [] if stack is None else list(stack)
        self.seen: dict[int, tuple[bool, int]] = {}

    @contextlib.contextmanager
    def watch(self) -> Iterator[None]:
        handles = [
            layer.register_forward_hook(lambda _, __, out, index=index: self._note(index, out))
            for index, layer in enumerate(self.stack)
        ]
        try:
            yield
        finally:
            for handle in handles:
                handle.remove()

    def _note(self, index: int, out: Any) -> None:
        if isinstance(out, tuple):
            self.seen[index] = (True, len(out) - 1)
        elif isinstance(out, torch.Tensor):
            self.seen[index] = (False, 0)


@contextlib.contextmanager
def thinned(stack: nn.ModuleList | None, kept: set[int], shapes: dict[int, tuple[bool, int]]) -> Iterator[None]:
    """Inside, the layers that are not kept are skipped."""
    whole = list(stack) if stack is not None else []
    for index, layer in enumerate(whole):
        if stack is not None and index not in kept and index in shapes:
            in_tuple, extras = shapes[index]
            stack[index] = Skipped(layer, in_tuple=in_tuple, extras=extras)
    try:
        yield
    finally:
        for index, layer in enumerate(whole):
            if stack is not None:
                stack[index] = layer
