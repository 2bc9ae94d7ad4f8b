"""Answers on meta that are remembered are those that would be reckoned."""

import pytest
import torch

from jobs.measuring.meta_shapes import SeenShapes
from jobs.measuring.meta_storage import LiveStorage, storage_key

ATEN = torch.ops.aten


def meta(*shape: int, dtype: torch.dtype = torch.bfloat16) -> torch.Tensor:
    return torch.empty(*shape, dtype=dtype, device="meta")


@pytest.mark.parametrize(
    ("func", "args"),
    [
        (ATEN.mm.default, (meta(3, 4), meta(4, 5))),
        (ATEN.add.Tensor, (meta(3, 1), meta(4))),
        (ATEN.mul.Tensor, (meta(3, dtype=torch.int64), 2)),
        (ATEN.mul.Tensor, (meta(3, dtype=torch.int64), 2.0)),
        (ATEN.cat.default, ([meta(2, 3), meta(2, 5)], 1)),
        (ATEN.clone.default, (meta(3, 4).t(),)),
    ],
)
def test_an_operation_answers_alike_the_first_and_the_second_time(func: object, args: tuple[object, ...]) -> None:
    seen = SeenShapes()
    first, second = seen.answer(func, args, {}), seen.answer(func, args, {})
    assert (first.shape, first.stride(), first.dtype) == (second.shape, second.stride(), second.dtype)
    assert storage_key(first) != storage_key(second)


def test_a_view_is_a_view_each_time_even_where_the_operation_does_not_say_so() -> None:
    seen, tensor = SeenShapes(), meta(4, 6)
    for _ in range(2):
        assert storage_key(seen.answer(ATEN.view.default, (tensor, [24]), {})) == storage_key(tensor)
        assert storage_key(seen.answer(ATEN._unsafe_view.default, (tensor, [24]), {})) == storage_key(tensor)


def test_a_product_seen_before_counts_as_living_memory_again() -> None:
    model = torch.nn.Linear(8, 8, bias=False, device="meta", dtype=torch.bfloat16)
    peaks = []
    for _ in range(2):
        live = LiveStorage(model)
        with live, torch.no_grad():
            model(meta(5, 8))
        peaks.append(live.peak_bytes)
    assert peaks[0] == peaks[1] >= 5 * 8 * 2
