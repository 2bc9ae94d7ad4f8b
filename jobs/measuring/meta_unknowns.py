"""What a model asks of its data, which on meta has no values: answers that let its code go on, at the most it needs."""

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any
from unittest import mock

import torch


class Rest(int):
    """In a list of sizes to split a tensor into: all that the others leave."""


@contextlib.contextmanager
def unknown_values() -> Iterator[None]:
    """Inside, no token is the padding one, and the experts' shares are known: all tokens meet the first."""
    with (
        mock.patch.object(torch.Tensor, "__contains__", _never(torch.Tensor.__contains__)),
        mock.patch.object(torch.Tensor, "tolist", _first_has_all(torch.Tensor.tolist)),
        mock.patch.object(torch.Tensor, "split", _with_rest(torch.Tensor.split)),
    ):
        yield


def found_entries(mask: torch.Tensor) -> torch.Tensor:
    """Indices of a mask's true entries: of a row of experts the first alone, and that one for every token.

    A table [slots, tokens] holds a token once: there are as many entries as its last dimension has.
    """
    if mask.dim() < 2:
        return torch.zeros(1, mask.dim(), dtype=torch.long, device="cpu")  # its value may be asked for
    return torch.empty(mask.shape[-1], mask.dim(), dtype=torch.long, device="meta")


def _never(plain: Any) -> Any:
    def contains(tensor: torch.Tensor, element: Any) -> bool:
        return False if tensor.is_meta else bool(plain(tensor, element))

    return contains


def _first_has_all(plain: Any) -> Any:
    def listed(tensor: torch.Tensor) -> Any:
        return [Rest(), *[0] * (len(tensor) - 1)] if tensor.is_meta and tensor.dim() == 1 else plain(tensor)

    return listed


def _with_rest(plain: Any) -> Any:
    def split(tensor: torch.Tensor, sizes: int | Sequence[int], dim: int = 0) -> Any:
        if isinstance(sizes, list) and any(isinstance(size, Rest) for size in sizes):
            rest = tensor.shape[dim] - sum(sizes)
            sizes = [rest if isinstance(size, Rest) else size for size in sizes]
        return plain(tensor, sizes, dim)

    return split
