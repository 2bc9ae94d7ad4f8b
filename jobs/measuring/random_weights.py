"""Random weights of an architecture, quickly: the model's own initialisation, with large draws repeated.

Memory and speed do not depend on the values, but a model of 8 billion parameters would take minutes to draw.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch.nn import init
from torch.overrides import TorchFunctionMode

SEED = 20240613
DRAWN_ELEMENTS = 2**20
DRAWS = frozenset({init.normal_, init.uniform_, init.trunc_normal_, init.kaiming_uniform_})


class RepeatedDraws(TorchFunctionMode):  # type: ignore[misc]
    """Within it, an initialiser draws the first rows (about 2^20 elements) of a tensor and copies them to the rest."""

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        given = dict(kwargs or {})
        if func not in DRAWS:
            return func(*args, **given)
        tensor, *others = [given.pop("tensor"), *args] if "tensor" in given else args
        rows = max(1, DRAWN_ELEMENTS * tensor.shape[0] // max(1, tensor.numel())) if tensor.dim() > 1 else 0
        if not 0 < rows < tensor.shape[0]:
            return func(tensor, *others, **given)
        func(tensor[:rows], *others, **given)
        _repeat(tensor, rows)
        return tensor


def _repeat(tensor: torch.Tensor, rows: int) -> None:
    with torch.no_grad():
        for first in range(rows, tensor.shape[0], rows):
            part = tensor[first : first + rows]
            part.copy_(tensor[: part.shape[0]])
