"""How a model's weights are packed, from its files where there are some and from its config's quantization_config."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from transformers.utils import is_kernels_available, is_triton_available

from jobs.measuring.hub_source import hub_tensors
from jobs.measuring.meta_weights import not_in_files
from jobs.measuring.stored_compressed import compressed_tensors
from jobs.measuring.stored_gguf import gguf_stored
from jobs.measuring.stored_headers import DOWNLOAD_AGAIN, FileTensor, file_bytes, folder_tensors
from jobs.measuring.stored_linears import PACKINGS, packed_bytes
from jobs.measuring.stored_modules import fp8_bytes, mxfp4_bytes
from jobs.sizing.model_spec import ModelKind, ModelSpec
from jobs.sizing.record import ON_THE_FLY_SOURCE, StoredWeights
from jobs.sizing.refusal import Refusal
from jobs.sizing.stored import ON_THE_FLY

FP8_METHODS = ("fp8", "mxfp8")
MXFP4_TRITON = "3.4.0"  # without it and the package kernels, transformers unpacks MXFP4 on CUDA too
Build = Callable[[str], Any]
"""The model on meta in a precision, new each time: packing replaces its modules."""


def stored_weights(
    spec: ModelSpec, config: Any, model: Any, unpacked_bytes: Mapping[str, int], build: Build
) -> StoredWeights | None:
    """None where the weights are plain floats, which loading casts to the compute precision.

    model: on meta, in any precision; unpacked_bytes: by the precisions asked for.
    Raises Refusal: missing_weights, broken_weights.
    """
    if spec.gguf_file:
        return gguf_stored(spec, unpacked_bytes)
    fields = quantization_fields(config)
    tensors = _tensors(spec, packed=fields is not None)
    if fields is None:
        if tensors is not None and spec.kind is ModelKind.FOLDER:
            _refuse_incomplete(spec, model, tensors)
        return None
    method = method_of(fields)
    sizes = {dtype: _sized(method, fields, build, dtype) for dtype in unpacked_bytes}
    bits = next(iter(sizes.values()))[1]
    known = {dtype: size for dtype, (size, _) in sizes.items() if size is not None}
    in_files = None if tensors is None else file_bytes(tensors)
    return StoredWeights(
        method=method,
        bits=bits if known else None,
        source="quantization_config" if tensors is None else "safetensors",
        file_bytes=in_files,
        device_bytes=known or _of_unknown_packing(unpacked_bytes, in_files),
        dequantized=bool(fields.get("dequantize")) or method == "compressed-tensors",
        unpacked_on=_unpacked_on(method),
        pass_elements=_pass_elements(method, fields, build) if known else 0,
    )


def packed_on_the_fly(
    spec: ModelSpec, config: Any, unpacked_bytes: Mapping[str, int], build: Build
) -> dict[str, StoredWeights]:
    """How the weights would be if bitsandbytes packed them while they are loaded; empty where they are packed already
    or nothing in the model is packed by it."""
    if spec.gguf_file or quantization_fields(config) is not None:
        return {}
    found = {}
    for name, fields in ON_THE_FLY.items():
        sizes = {dtype: _sized("bitsandbytes", fields, build, dtype) for dtype in unpacked_bytes}
        known = {dtype: size for dtype, (size, _) in sizes.items() if size is not None}
        if any(known[dtype] < unpacked_bytes[dtype] for dtype in known):
            found[name] = StoredWeights(
                method="bitsandbytes",
                bits=next(iter(sizes.values()))[1],
                source=ON_THE_FLY_SOURCE,
                file_bytes=None,
                device_bytes=known,
                dequantized=False,
                pass_elements=_pass_elements("bitsandbytes", fields, build),
            )
    return found


def quantization_fields(config: Any) -> Mapping[str, Any] | None:
    """The quantization_config of the model or of its decoder; raises TypeError where it is no object."""
    found = getattr(config, "quantization_config", None) or getattr(
        config.get_text_config(decoder=True), "quantization_config", None
    )
    if not found:
        return None
    if not isinstance(found, Mapping):
        raise TypeError("its quantization_config is not an object")
    return found


def method_of(fields: Mapping[str, Any]) -> str:
    if fields.get("load_in_4bit") or fields.get("load_in_8bit"):
        return "bitsandbytes"
    return str(fields.get("quant_method") or "unnamed")


def _sized(method: str, fields: Mapping[str, Any], build: Build, dtype: str) -> tuple[int | None, int | None]:
    """Bytes on the device in this precision, and bits of a packed weight; None for what is not known."""
    torch_dtype = getattr(torch, dtype)
    if method in FP8_METHODS:
        return fp8_bytes(build(dtype), fields, torch_dtype), 4 if fields.get("expert_dtype") == "fp4" else 8
    if method == "mxfp4":
        return mxfp4_bytes(build(dtype), fields, torch_dtype), 4
    if method == "compressed-tensors":
        return compressed_tensors(build(dtype), fields, torch_dtype)
    if method in PACKINGS:
        model = build(dtype)
        packing = PACKINGS[method](model, fields)
        return packed_bytes(model, packing, torch_dtype), packing.bits
    return None, None


def _pass_elements(method: str, fields: Mapping[str, Any], build: Build) -> int:
    """bitsandbytes unpacks a 4-bit weight whole before it multiplies with it; the largest counts."""
    if method != "bitsandbytes" or fields.get("load_in_8bit"):
        return 0
    return max((one.elements for one in PACKINGS[method](build("bfloat16"), fields).linears), default=0)


def _of_unknown_packing(unpacked_bytes: Mapping[str, int], in_files: int | None) -> dict[str, int]:
    """As many bytes as the files hold, else as if nothing were packed."""
    return {dtype: size if in_files is None else in_files for dtype, size in unpacked_bytes.items()}


def _unpacked_on(method: str) -> tuple[str, ...]:
    if method in FP8_METHODS:
        return ("cpu",)
    if method == "mxfp4":
        return ("cpu",) if is_triton_available(MXFP4_TRITON) and is_kernels_available() else ("cpu", "cuda")
    return ()


def _tensors(spec: ModelSpec, *, packed: bool) -> tuple[FileTensor, ...] | None:
    """On the Hub the headers are asked for only where the config does not tell the bytes alone."""
    if spec.kind is ModelKind.FOLDER:
        return folder_tensors(spec.name, Path(spec.path or ""))
    return hub_tensors(spec) if spec.kind is ModelKind.HUB and packed else None


def _refuse_incomplete(spec: ModelSpec, model: Any, tensors: Sequence[FileTensor]) -> None:
    """What is not in the files would be drawn at random when they are loaded."""
    absent_elements = not_in_files(model, sum(tensor.elements for tensor in tensors))
    if absent_elements > 0:
        raise Refusal(
            "missing_weights",
            f"The files of “{spec.name}” lack {absent_elements:,} of the weights that its config asks for.",
            DOWNLOAD_AGAIN,
        )
