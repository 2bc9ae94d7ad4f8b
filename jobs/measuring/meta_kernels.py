"""Stand-ins that let a model's own code run on the meta device and allocate what the CPU's kernels allocate."""

import contextlib
import functools
import inspect
from collections.abc import Iterator
from typing import Any
from unittest import mock

import torch
from torch.nn import functional
from transformers import masking_utils
from transformers.integrations import moe
from transformers.utils import is_hqq_available

from jobs.measuring.meta_scratch import flash_bytes
from jobs.measuring.meta_unknowns import unknown_values

SEARCH_STEPS = 2
MATH_PATH = 0  # torch.nn.attention.SDPBackend.MATH


def fused_choice(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attn_mask: torch.Tensor | None,
    is_causal: bool,
    scale: float | None,
    enable_gqa: bool,
) -> int:
    """Ask the CPU's own dispatcher which kernel it takes for these shapes (nothing of their size is allocated)."""
    query, key, value, mask = (None if tensor is None else _ghost(tensor) for tensor in (query, key, value, attn_mask))
    return int(torch._fused_sdp_choice(query, key, value, mask, 0.0, is_causal, scale=scale, enable_gqa=enable_gqa))


def _ghost(tensor: torch.Tensor) -> torch.Tensor:
    """A CPU tensor of the same shape over the storage of one row, with the same layout in the last dimension."""
    width = tensor.shape[-1]
    row = torch.empty(max(1, width * tensor.stride(-1)), dtype=tensor.dtype, device="cpu")
    strides = [0] * (tensor.dim() - 1) + [tensor.stride(-1)]
    return row.as_strided(tensor.shape, strides)


def cpu_attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attn_mask: torch.Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> torch.Tensor:
    """scaled_dot_product_attention as a CPU allocates it.

    The flash kernel keeps its result, a float32 log-sum per row, and a mask turned into the compute precision; the
    math path keeps scores, and runs as it is.
    """
    choice = fused_choice(query, key, value, attn_mask, is_causal, scale, enable_gqa)
    bias = _bias(attn_mask, query.dtype)
    if choice == MATH_PATH:
        out, _ = torch._scaled_dot_product_attention_math(
            query, key, value, bias, 0.0, is_causal, None, scale=scale, enable_gqa=enable_gqa
        )
        return out
    batch, heads, rows, _ = query.shape
    blocks = torch.empty(flash_bytes(query, key), dtype=torch.uint8, device="meta")
    log_sum = torch.empty(batch, rows, heads, dtype=torch.float32, device="meta")
    out = torch.empty(batch, rows, heads, value.shape[-1], dtype=query.dtype, device="meta").transpose(1, 2)
    del bias, blocks, log_sum
    return out


def _bias(mask: torch.Tensor | None, dtype: torch.dtype) -> torch.Tensor | None:
    """What a mask of yes and no is turned into; another is taken as it is."""
    if mask is None or mask.dtype is not torch.bool:
        return mask
    return torch.empty(mask.shape, dtype=dtype, device="meta")


def grouped_product(rows: torch.Tensor, weight: torch.Tensor, **_: Any) -> torch.Tensor:
    """The experts' grouped product: meta knows it in bfloat16 only."""
    return torch.empty(rows.shape[0], weight.shape[-1], dtype=rows.dtype, device=rows.device)


@contextlib.contextmanager
def cpu_kernels(*, padded: bool = False) -> Iterator[None]:
    """Inside, a meta tensor asked for its truth says yes, so that loops run on; but a padded mask is not all ones."""
    with (
        _short_search(),
        unknown_values(),
        _never_all() if padded else contextlib.nullcontext(),
        mock.patch.object(functional, "scaled_dot_product_attention", cpu_attention),
        mock.patch.object(moe, "_grouped_mm", grouped_product),
        mock.patch.object(torch.Tensor, "__bool__", _true_on_meta(torch.Tensor.__bool__)),
    ):
        yield


def _true_on_meta(plain: Any) -> Any:
    def truth(tensor: torch.Tensor) -> bool:
        return True if tensor.is_meta else bool(plain(tensor))

    return truth


@contextlib.contextmanager
def _never_all() -> Iterator[None]:
    """Inside, whoever asks whether all of a meta tensor is true hears no."""

    def answering_no(plain: Any) -> Any:
        def all_of(tensor: torch.Tensor, *where: Any, **how: Any) -> Any:
            return torch.tensor(False) if tensor.is_meta and not where and not how else plain(tensor, *where, **how)

        return all_of

    with (
        mock.patch.object(torch, "all", answering_no(torch.all)),
        mock.patch.object(torch.Tensor, "all", answering_no(torch.Tensor.all)),
        mock.patch.object(masking_utils, "fast_all", answering_no(masking_utils.fast_all)),
    ):
        yield


@contextlib.contextmanager
def _short_search() -> Iterator[None]:
    """hqq's search for zero points, cut where it needs no more memory: on meta it never converges."""
    if not is_hqq_available():
        yield
        return
    from hqq.core.quantize import Quantizer

    search = Quantizer.optimize_weights
    settings = inspect.signature(search).parameters["opt_params"].default | {"iters": SEARCH_STEPS}
    with mock.patch.object(Quantizer, "optimize_weights", functools.partial(search, opt_params=settings)):
        yield
