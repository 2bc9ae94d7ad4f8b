"""Bytes of models whose packed modules transformers has itself: FP8 in blocks or whole, and MXFP4 experts.

Its quantizer replaces the modules of a model on meta, and their parameters are counted.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from transformers.integrations.mxfp4 import Mxfp4GptOssExperts
from transformers.models.gpt_oss.modeling_gpt_oss import GptOssExperts
from transformers.quantizers.auto import AutoQuantizationConfig
from transformers.quantizers.base import HfQuantizer
from transformers.quantizers.quantizer_finegrained_fp8 import FineGrainedFP8HfQuantizer
from transformers.quantizers.quantizers_utils import should_convert_module

from jobs.measuring.meta_weights import weights_bytes

MXFP4_BLOCK_BYTES = 16  # 32 weights of 4 bits share a scale of one byte


def fp8_bytes(model: Any, fields: Mapping[str, Any], dtype: torch.dtype) -> int:
    """Replaces modules of `model`, which was built in `dtype`."""
    packing = FineGrainedFP8HfQuantizer(AutoQuantizationConfig.from_dict(dict(fields)), pre_quantized=True)
    packing.quantization_config.dequantize = False
    with _default_dtype(dtype), torch.device("meta"):
        packing.preprocess_model(model, dtype=dtype)
    return weights_bytes(model, dtype)


def mxfp4_bytes(model: Any, fields: Mapping[str, Any], dtype: torch.dtype) -> int | None:
    """Replaces the experts of `model`; None where it has none that transformers packs so.

    The scales are no parameters of the packed module: they are made with its weights.
    """
    skipped = HfQuantizer.get_modules_to_not_convert(
        model, fields.get("modules_to_not_convert"), model._keep_in_fp32_modules
    )
    scales_bytes = 0
    for name, module in list(model.named_modules()):
        if not isinstance(module, GptOssExperts) or not should_convert_module(name, skipped):
            continue
        with torch.device("meta"):
            packed = Mxfp4GptOssExperts(model.config)
        scales_bytes += (packed.gate_up_proj.numel() + packed.down_proj.numel()) // MXFP4_BLOCK_BYTES
        model.set_submodule(name, packed)
    return weights_bytes(model, dtype) + scales_bytes if scales_bytes else None


@contextmanager
def _default_dtype(dtype: torch.dtype) -> Iterator[None]:
    """As while transformers builds a model that it loads: biases of packed modules take it."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(before)
