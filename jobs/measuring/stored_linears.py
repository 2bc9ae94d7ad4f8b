"""Bytes of linear layers that a quantizer packs one by one: bitsandbytes, GPTQ, AWQ, FP8 per row.

The modules are those that transformers' own quantizers replace (transformers.quantizers); the packages that bring the
packed modules need not be installed.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from transformers.pytorch_utils import Conv1D
from transformers.quantizers.base import HfQuantizer
from transformers.quantizers.quantizers_utils import should_convert_module

from jobs.measuring.linear_layers import Linear, linears, linears_in_layers, patch_experts
from jobs.measuring.meta_weights import weights_bytes

BNB_BLOCK, BNB_NESTED_BLOCK = 64, 256  # elements that share a scale, and scales that share one of their own
WORD_BITS = (2, 3, 4, 8)  # of a weight within a 32-bit word
BNB_CODE_BYTES, BNB_NESTED_CODE_BYTES, BNB_OFFSET_BYTES = 16 * 4, 256 * 4, 4


@dataclass(frozen=True, kw_only=True)
class Packing:
    """weight_bytes: of a linear's codes, scales, zero points and tables.

    bias_bytes: of one element of a bias; None where biases stay in the compute precision.
    """

    bits: int
    linears: Sequence[Linear]
    weight_bytes: Callable[[Linear], int]
    bias_bytes: int | None = None


def bitsandbytes(model: Any, fields: Mapping[str, Any]) -> Packing:
    """Codes; a float32 scale for 64 weights (4 bits) or for a row (8 bits); tables of the codes' values."""
    patch_experts(model, "bitsandbytes")
    skipped = HfQuantizer.get_modules_to_not_convert(
        model, fields.get("llm_int8_skip_modules"), model._keep_in_fp32_modules
    )
    packed = [
        linear
        for linear, module in linears(model)
        if (isinstance(module, Conv1D) or type(module) is nn.Linear) and should_convert_module(linear.name, skipped)
    ]
    if fields.get("load_in_8bit"):
        return Packing(bits=8, linears=packed, weight_bytes=lambda one: one.elements + 4 * one.outputs)
    nested = bool(fields.get("bnb_4bit_use_double_quant"))
    return Packing(bits=4, linears=packed, weight_bytes=lambda one: _bnb4_bytes(one, nested=nested))


def _bnb4_bytes(linear: Linear, *, nested: bool) -> int:
    scales = math.ceil(linear.elements / BNB_BLOCK)
    codes_bytes = math.ceil(linear.elements / 2) + BNB_CODE_BYTES
    if not nested:
        return codes_bytes + 4 * scales
    nested_bytes = 4 * math.ceil(scales / BNB_NESTED_BLOCK) + BNB_NESTED_CODE_BYTES + BNB_OFFSET_BYTES
    return codes_bytes + scales + nested_bytes


def gptq(model: Any, fields: Mapping[str, Any]) -> Packing:
    """Codes and zero points in 32-bit words, float16 scales per group, each input's group (g_idx), float16 biases."""
    bits, group = _bits(fields["bits"]), int(fields.get("group_size", 128))
    inside = fields.get("modules_in_block_to_quantize") or []
    wanted = [name for names in inside for name in ([names] if isinstance(names, str) else names)]
    left_out = [key[2:] for key in fields.get("dynamic") or {} if key.startswith("-:")]
    packed = [
        linear
        for linear in linears_in_layers(model)
        if (not wanted or any(linear.name.endswith(name) for name in wanted))
        and not any(re.match(pattern, linear.name) for pattern in left_out)
    ]

    def weight_bytes(linear: Linear) -> int:
        groups = _groups(linear, group)
        words = linear.inputs * bits // 32 * linear.outputs + groups * (linear.outputs * bits // 32)
        return 4 * (words + linear.inputs) + 2 * groups * linear.outputs

    return Packing(bits=bits, linears=packed, weight_bytes=weight_bytes, bias_bytes=2)


def awq(model: Any, fields: Mapping[str, Any]) -> Packing:
    """Codes and zero points in 32-bit words along the outputs, float16 scales per group, float16 biases."""
    bits = _bits(fields.get("bits", fields.get("w_bit", 4)))
    group = int(fields.get("group_size", fields.get("q_group_size", 128)))
    skipped = HfQuantizer.get_modules_to_not_convert(
        model, fields.get("modules_to_not_convert"), model._keep_in_fp32_modules, add_default_skips=True
    )
    packed = [
        linear
        for linear, module in linears(model)
        if isinstance(module, nn.Linear) and should_convert_module(linear.name, skipped)
    ]

    def weight_bytes(linear: Linear) -> int:
        groups = _groups(linear, group)
        return 4 * (linear.inputs + groups) * (linear.outputs * bits // 32) + 2 * groups * linear.outputs

    return Packing(bits=bits, linears=packed, weight_bytes=weight_bytes, bias_bytes=2)


def fbgemm_fp8(model: Any, fields: Mapping[str, Any]) -> Packing:
    """A byte a weight, a float32 scale a row, the bound of the inputs' scale, float32 biases."""
    skipped = HfQuantizer.get_modules_to_not_convert(
        model, fields.get("modules_to_not_convert"), model._keep_in_fp32_modules
    )
    packed = [
        linear
        for linear, module in linears(model)
        if isinstance(module, nn.Linear) and should_convert_module(linear.name, skipped)
    ]
    return Packing(bits=8, linears=packed, weight_bytes=lambda one: one.elements + 4 * one.outputs + 4, bias_bytes=4)


def packed_bytes(model: Any, packing: Packing, dtype: torch.dtype) -> int:
    """Bytes of the whole model on the device, computing in `dtype`: what is not packed stays in it."""
    biases = [] if packing.bias_bytes is None else [linear for linear in packing.linears if linear.bias]
    replaced = {f"{linear.name}.weight" for linear in packing.linears} | {f"{linear.name}.bias" for linear in biases}
    return (
        weights_bytes(model, dtype, without=replaced)
        + sum(packing.weight_bytes(linear) for linear in packing.linears)
        + sum((packing.bias_bytes or 0) * linear.outputs for linear in biases)
    )


PACKINGS: Mapping[str, Callable[[Any, Mapping[str, Any]], Packing]] = {
    "bitsandbytes": bitsandbytes,
    "gptq": gptq,
    "awq": awq,
    "fbgemm_fp8": fbgemm_fp8,
}


def _bits(value: Any) -> int:
    if value not in WORD_BITS:
        raise ValueError(f"weights are not packed in {value} bits")
    return int(value)


def _groups(linear: Linear, group: int) -> int:
    """A group size of -1 is one group for all inputs."""
    if group < -1 or group == 0:
        raise ValueError(f"{group} weights make no group")
    return math.ceil(linear.inputs / group) if group > 0 else 1
