"""Memory that CPU kernels take for themselves while they run, which no tensor shows."""

from collections.abc import Sequence
from functools import cache
from typing import Any

import torch

SCORE_BYTES = 1
ACCUMULATOR_BYTES = 4
FLASH_ROWS = ((768, 256), (192, 64), (0, 32))
"""From so many rows of queries on, a thread takes blocks of so many."""
FLASH_COLUMNS = 512
PACKING_ROWS, PACKED_INNER = 512, 1600
PRODUCTS = frozenset(
    {
        torch.ops.aten.mm.default,
        torch.ops.aten.addmm.default,
        torch.ops.aten.bmm.default,
        torch.ops.aten.baddbmm.default,
    }
)


def scratch_bytes(func: Any, args: Sequence[Any], out: Any) -> int:
    """Bytes beside the operation's result.

    The masked softmax of attention's math path keeps a byte a score. A product of matrices in bfloat16 keeps a
    float32 for each element of its result where the CPU has no instructions for that precision (oneDNN's
    gemm:jit:bf16, seen by its verbose log and by the rise of resident memory); of a batch of products each thread
    has one at work, and a single row is multiplied without. A product with a bias (addmm) also packs the weights, as
    many of their inner dimension as go through at a time, once each thread has rows enough.
    """
    if func is torch.ops.aten._safe_softmax.default:
        return int(out.numel()) * SCORE_BYTES
    if func in PRODUCTS and out.dtype is torch.bfloat16 and out.shape[-2] > 1 and accumulates_wide():
        *batch, rows, columns = (int(size) for size in out.shape)
        at_once = min(*batch, _threads()) if batch else 1
        packed = _packed_bytes(args, rows, columns) if func is torch.ops.aten.addmm.default else 0
        return at_once * rows * columns * ACCUMULATOR_BYTES + packed
    return 0


def _packed_bytes(args: Sequence[Any], rows: int, columns: int) -> int:
    """Found by the rise of resident memory over 20 shapes: right within 1 MiB up to 16 MiB."""
    inner = int(args[1].shape[-1])
    enough = rows >= PACKING_ROWS * _threads()
    return min(inner, PACKED_INNER) * columns * int(args[1].element_size()) if enough else 0


def flash_bytes(query: torch.Tensor, key: torch.Tensor) -> int:
    """What the CPU's flash attention kernel keeps for its threads while it runs.

    query, key: [sequences, heads, tokens, width]. Each thread holds a block of scores, two columns and a block of
    the result in float32, and the scores once more in a narrower compute precision (torch's FlashAttentionKernel).
    """
    rows, width = int(query.shape[2]), int(query.shape[3])
    most_rows = next(size for least, size in FLASH_ROWS if rows >= least)
    block_rows, block_columns = min(rows, most_rows), min(int(key.shape[2]), FLASH_COLUMNS)
    wide = block_rows * (block_columns + 2 + width) * ACCUMULATOR_BYTES
    narrow = 0 if query.dtype is torch.float32 else block_rows * block_columns * int(query.element_size())
    return _threads() * (wide + narrow)


def _threads() -> int:
    return int(torch.get_num_threads())


@cache
def accumulates_wide() -> bool:
    """Whether this CPU multiplies bfloat16 by way of a float32 copy of the result."""
    able = torch.cpu.get_capabilities()
    native = able.get("avx512_bf16", False) or able.get("amx_bf16", False)
    return bool(torch.ops.mkldnn._is_mkldnn_bf16_supported()) and not native
