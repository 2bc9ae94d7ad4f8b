"""The linear layers of a model built on meta: what quantizers replace one by one."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from transformers.pytorch_utils import Conv1D
from transformers.quantizers.base import MODULES_TO_PATCH_FOR_QUANTIZATION

from jobs.measuring.meta_thin import find_stack


@dataclass(frozen=True, kw_only=True)
class Linear:
    name: str
    inputs: int
    outputs: int
    bias: bool

    @property
    def elements(self) -> int:
        return self.inputs * self.outputs


def linears(model: Any) -> Iterator[tuple[Linear, nn.Module]]:
    """Every linear layer of the model; a Conv1D (GPT-2) is one whose weight lies the other way round."""
    for name, module in model.named_modules():
        if isinstance(module, Conv1D):
            inputs, outputs = module.weight.shape
        elif isinstance(module, nn.Linear):
            outputs, inputs = module.weight.shape
        else:
            continue
        yield Linear(name=name, inputs=int(inputs), outputs=int(outputs), bias=module.bias is not None), module


def linears_in_layers(model: Any) -> Iterator[Linear]:
    """The linears of the decoder's layers: GPTQ leaves what is around them alone."""
    stack = find_stack(model, model.config.get_text_config(decoder=True).num_hidden_layers)
    inside = {id(module) for module in stack.modules()} if stack is not None else set()
    return (linear for linear, module in linears(model) if id(module) in inside)


def patch_experts(model: Any, method: str) -> None:
    """Experts that transformers splits into linear layers before it packs them."""
    for name, module in list(model.named_modules()):
        patch = MODULES_TO_PATCH_FOR_QUANTIZATION.get(type(module).__name__)
        if patch is not None and method in patch["quantization_methods"]:
            with torch.device("meta"):
                model.set_submodule(name, patch["module_name"](model.config.get_text_config()))
