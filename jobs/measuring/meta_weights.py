"""Parameters and bytes of a model's weights, read from the model built on meta."""

import re
from typing import Any

import torch


def parameters(model: Any) -> int:
    """Elements of all parameters; tied ones once."""
    return sum(int(parameter.numel()) for parameter in model.parameters())


def weights_bytes(model: Any, dtype: torch.dtype) -> int:
    """Bytes of parameters (tied ones once) and of the buffers that are stored with them, for a model in `dtype`.

    Parameters that transformers keeps in float32 when it loads the model in this precision count as such.
    """
    kept = _kept_in_float32(model, dtype)
    stored = set(model.state_dict())
    tensors = [*model.named_parameters(), *((name, b) for name, b in model.named_buffers() if name in stored)]
    return sum(int(tensor.numel()) * _width(name, tensor, kept) for name, tensor in tensors)


def table_bytes(model: Any) -> int:
    """Bytes of the buffers that are computed, not stored (rotary frequencies, masks): working memory, always there."""
    stored = set(model.state_dict())
    return sum(int(b.numel() * b.element_size()) for name, b in model.named_buffers() if name not in stored)


def _width(name: str, tensor: torch.Tensor, kept: re.Pattern[str] | None) -> int:
    widened = kept is not None and tensor.is_floating_point() and kept.search(name)
    return max(4 if widened else 1, int(tensor.element_size()))


def _kept_in_float32(model: Any, dtype: torch.dtype) -> re.Pattern[str] | None:
    names = model._get_dtype_plan(dtype)
    if not names:
        return None
    parts = "|".join(re.escape(name).replace(r"\*", ".*") for name in names)
    return re.compile(rf"(^|\.)({parts})(\.|$)")
