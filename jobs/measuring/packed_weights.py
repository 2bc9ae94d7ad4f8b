"""Packed weights: what loading them needs, said before anything is fetched or loaded; and packing while loading.

What each method needs is what the quantizers of transformers 5.24 check (transformers.quantizers), and the kernels that
their modules load at the first pass.
"""

import logging
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import torch
from transformers import BitsAndBytesConfig
from transformers.quantizers import AutoHfQuantizer

from jobs.measuring.library_errors import LIBRARY_ERRORS
from jobs.measuring.load_refusals import first_line
from jobs.measuring.stored_weights import method_of, quantization_fields
from jobs.measuring.weight_source import draws_random_weights
from jobs.sizing.model_spec import ModelSpec
from jobs.sizing.refusal import Refusal
from jobs.sizing.stored import AS_STORED, ON_THE_FLY

PACKAGES: Mapping[str, tuple[str, ...]] = {
    "aqlm": ("aqlm",),
    "auto-round": ("auto-round",),
    "awq": ("gptqmodel",),
    "bitsandbytes": ("bitsandbytes",),
    "compressed-tensors": ("compressed-tensors",),
    "gptq": ("optimum", "gptqmodel"),
    "hqq": ("hqq",),
    "quanto": ("optimum-quanto",),
    "torchao": ("torchao",),
    "vptq": ("vptq",),
}
CUDA_PACKAGES: Mapping[str, tuple[str, ...]] = {
    "fbgemm_fp8": ("fbgemm-gpu",),
    "fp8": ("kernels",),
    "mxfp8": ("kernels",),
}
"""Besides, on a GPU. On a CPU fp8 and mxfp8 are unpacked."""
GPU_ONLY = frozenset({"eetq", "fbgemm_fp8", "higgs", "hqq", "quark", "spqr"})
NEEDS_GPU = ("requires a GPU", "GPU is required", "only supported on GPU", "No GPU")


def refuse_unloadable(config: Any, spec: ModelSpec, *, weights: str, device: str) -> None:
    """Raises Refusal: packages_missing, needs_gpu, bad_weights, load_failed. GGUF files are always unpacked."""
    if spec.gguf_file:
        _refuse_packed("gguf", spec, weights)
        return
    fields = None if draws_random_weights(spec) and weights == AS_STORED else quantization_fields(config)
    if fields is not None:
        _refuse_packed(method_of(fields), spec, weights)
    fields = fields if weights == AS_STORED else ON_THE_FLY[weights]
    if fields is None:
        return
    method = method_of(fields)
    on_cpu = device.partition(":")[0] == "cpu"
    if on_cpu and method in GPU_ONLY:
        raise _needs_gpu(method, spec)
    wanted = (*PACKAGES.get(method, ()), *(() if on_cpu else CUDA_PACKAGES.get(method, ())))
    missing = tuple(name for name in wanted if not _is_installed(name))
    if missing:
        raise _packages_missing(method, spec, missing)
    _as_transformers_sees_it(method, fields, spec, device=device)


def packing_config(weights: str, dtype: str) -> BitsAndBytesConfig | None:
    """What from_pretrained is given so that it packs the weights; None for weights as they are stored."""
    if weights == AS_STORED:
        return None
    logging.getLogger("bitsandbytes").setLevel(logging.ERROR)  # a line for each 8-bit product in bfloat16
    computed = {"bnb_4bit_compute_dtype": getattr(torch, dtype)} if weights == "bnb4" else {}
    return BitsAndBytesConfig(**ON_THE_FLY[weights], **computed)


def packed_from(drawn: Any, packing: BitsAndBytesConfig, *, dtype: str, device: str, **how: Any) -> Any:
    """The drawn model's weights, packed as from_pretrained packs those of files."""
    return type(drawn).from_pretrained(
        None,
        config=drawn.config,
        state_dict=drawn.state_dict(),
        dtype=getattr(torch, dtype),
        device_map={"": device},
        quantization_config=packing,
        **how,
    )


def settle_packed(model: Any) -> None:
    """One pass of one token: some methods unpack or move their weights at the first."""
    if getattr(model, "hf_quantizer", None) is not None:
        with torch.inference_mode():
            model(input_ids=torch.zeros((1, 1), dtype=torch.long, device=model.device), use_cache=False)


def _as_transformers_sees_it(method: str, fields: Mapping[str, Any], spec: ModelSpec, *, device: str) -> None:
    """Its own check of the environment, which knows what no table here does."""
    try:
        quantizer = AutoHfQuantizer.from_config(dict(fields), pre_quantized=True)
        quantizer.validate_environment(device_map={"": device}, weights_only=True)
    except LIBRARY_ERRORS as error:
        if any(sign in str(error) for sign in NEEDS_GPU):
            raise _needs_gpu(method, spec) from error
        code = "packages_missing" if isinstance(error, ImportError) else "load_failed"
        raise Refusal(
            code,
            f"The weights of “{spec.name}”, packed as {method}, cannot be loaded here: {first_line(str(error))}",
            "Install what it asks for on the worker, for the Python that measures, or choose weights packed otherwise.",
        ) from error


def _refuse_packed(method: str, spec: ModelSpec, weights: str) -> None:
    if weights != AS_STORED:
        raise Refusal(
            "bad_weights",
            f"The weights of “{spec.name}” are packed already, as {method}; bitsandbytes packs plain ones while they "
            "are loaded.",
            "Take the weights as they are stored.",
        )


def _packages_missing(method: str, spec: ModelSpec, missing: tuple[str, ...]) -> Refusal:
    them = " and ".join(missing)
    return Refusal(
        "packages_missing",
        f"Loading “{spec.name}” with weights packed as {method} needs {them}, which the Python that measures lacks.",
        f"On the worker: pip install {' '.join(missing)}. Or choose weights packed otherwise.",
    )


def _needs_gpu(method: str, spec: ModelSpec) -> Refusal:
    return Refusal(
        "needs_gpu",
        f"Weights packed as {method}, as those of “{spec.name}”, run on a GPU alone, and this device is a CPU.",
        "Choose a GPU, or weights packed otherwise.",
    )


def _is_installed(name: str) -> bool:
    try:
        version(name)
    except PackageNotFoundError:
        return False
    return True
