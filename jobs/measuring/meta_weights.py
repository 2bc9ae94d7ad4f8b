"""Parameters and bytes of a model's weights, read from the model built on meta."""

import re
from collections.abc import Container
from typing import Any

import torch


def parameters(model: Any) -> int:
    """Elements of all parameters; tied ones once."""
    return sum(int(parameter.numel()) for parameter in model.parameters())


def not_in_files(model: Any, file_elements: int) -> int:
    """How many elements of the parameters files with so many cannot hold; what may be missing is not asked for."""
    optional = [re.compile(pattern) for pattern in model._keys_to_ignore_on_load_missing or ()]
    asked = sum(
        int(parameter.numel())
        for name, parameter in model.named_parameters()
        if not any(pattern.search(name) for pattern in optional)
    )
    return max(0, asked - file_elements)


def weights_bytes(model: Any, dtype: torch.dtype, *, without: Container[str] = ()) -> int:
    """Bytes of parameters (tied ones once) and of the buffers that are stored with them, for a model in `dtype`.

    Parameters that transformers keeps in float32 when it loads the model in this precision count as such.
    without: names that are not counted.
    """
    kept = _kept_in_float32(model, dtype)
    stored = set(model.state_dict())
    tensors = [*model.named_parameters(), *((name, b) for name, b in model.named_buffers() if name in stored)]
    return sum(int(tensor.numel()) * _width(name, tensor, kept) for name, tensor in tensors if name not in without)


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
