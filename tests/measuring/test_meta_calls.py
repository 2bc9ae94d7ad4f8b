"""A module's call that was made before needs as much as it did, and is gone through again only where it has to be."""

from typing import Any

import pytest
import torch
from torch import nn

from jobs.measuring.meta_storage import LiveStorage


class Block(nn.Module):
    """Widens and narrows; counts how often it is gone through, by a list that all of its like share."""

    def __init__(self, through: list[str], width: int = 32, *, keeps: bool = False) -> None:
        super().__init__()
        self.through = through
        self.factor = width
        self._kept: list[torch.Tensor] = []
        self.keeps = keeps

    def forward(self, hidden: torch.Tensor, cache: Any = None) -> tuple[torch.Tensor, None]:
        self.through.append("forward")
        wide = hidden.repeat(1, self.factor)
        if self.keeps:
            self._kept.append(wide)
        return wide[:, : hidden.shape[1]] + 1, None


def passed(model: nn.Module, *given: Any) -> tuple[int, int]:
    """Bytes at the peak, and those that the answer leaves alive."""
    live = LiveStorage(model)
    with live, torch.no_grad():
        hidden = torch.empty(4, 8, device="meta")
        answer, nothing = model(hidden, *given)
    assert (answer.shape, nothing) == ((4, 8), None)
    return live.peak_bytes, live.live_bytes


def test_the_second_call_needs_as_much_and_is_not_gone_through() -> None:
    through: list[str] = []
    model = Block(through)
    assert passed(model) == passed(model) == (4 * 8 * 4 * (1 + 32 + 1), 2 * 4 * 8 * 4)
    assert through == ["forward"]


def test_modules_alike_are_gone_through_once_and_others_each() -> None:
    through: list[str] = []
    model = nn.ModuleList([Block(through), Block(through), Block(through, 16)])
    live = LiveStorage(model)
    with live, torch.no_grad():
        for block in model:
            block(torch.empty(4, 8, device="meta"))
    assert len(through) == 2


@pytest.mark.parametrize(("keeps", "given"), [(True, ()), (False, (object(),))])
def test_what_keeps_something_or_is_handed_a_cache_is_gone_through_each_time(
    keeps: bool, given: tuple[object, ...]
) -> None:
    through: list[str] = []
    model = Block(through, keeps=keeps)
    for _ in range(3):
        passed(model, *given)
    assert len(through) == 3
