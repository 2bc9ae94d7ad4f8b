"""Memory that CPU kernels take for themselves while they run, which no tensor shows."""

from functools import cache
from typing import Any

import torch

SCORE_BYTES = 1
ACCUMULATOR_BYTES = 4
PRODUCTS = frozenset({torch.ops.aten.mm.default, torch.ops.aten.addmm.default})


def scratch_bytes(func: Any, out: Any) -> int:
    """Bytes beside the operation's result.

    The masked softmax of attention's math path keeps a byte a score. A product of matrices in bfloat16 keeps a
    float32 for each element of its result where the CPU has no instructions for that precision (oneDNN's
    gemm:jit:bf16, seen by its verbose log and by the rise of resident memory); a single row is multiplied without.
    """
    if func is torch.ops.aten._safe_softmax.default:
        return int(out.numel()) * SCORE_BYTES
    if func in PRODUCTS and out.dtype is torch.bfloat16 and out.shape[0] > 1 and accumulates_wide():
        return int(out.numel()) * ACCUMULATOR_BYTES
    return 0


@cache
def accumulates_wide() -> bool:
    """Whether this CPU multiplies bfloat16 by way of a float32 copy of the result."""
    able = torch.cpu.get_capabilities()
    native = able.get("avx512_bf16", False) or able.get("amx_bf16", False)
    return bool(torch.ops.mkldnn._is_mkldnn_bf16_supported()) and not native
