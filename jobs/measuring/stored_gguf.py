"""A model in one GGUF file: its config, and what its tensors take in the file."""

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from transformers import AutoConfig

from jobs.measuring.gguf_header import GgufHeader, NoGguf, read_gguf_header
from jobs.measuring.stored_headers import broken_weights
from jobs.sizing.model_spec import ModelSpec
from jobs.sizing.record import StoredWeights
from jobs.sizing.refusal import Refusal

SPLIT_COUNT = "split.count"


def gguf_config(spec: ModelSpec) -> Any:
    """The config that transformers makes of the file's metadata.

    Raises Refusal: broken_weights, split_gguf, unknown_model_type.
    """
    header = _header(spec)
    try:
        return AutoConfig.from_pretrained(
            spec.path, gguf_file=spec.gguf_file, local_files_only=True, trust_remote_code=False
        )
    except ValueError as error:
        if "architecture" not in str(error):
            raise
        architecture = header.metadata.get("general.architecture")
        raise Refusal(
            "unknown_model_type",
            f"This transformers reads no GGUF file of the architecture {architecture}, as “{spec.name}” is.",
            "Choose the same model in the transformers format, which holds a config.json.",
        ) from error


def whole_gguf(spec: ModelSpec) -> str:
    """The file's name, once its header has been read; raises Refusal: broken_weights, split_gguf."""
    _header(spec)
    return spec.gguf_file or ""


def gguf_stored(spec: ModelSpec, unpacked_bytes: Mapping[str, int]) -> StoredWeights:
    """transformers unpacks what it loads from GGUF: without downloaded kernels it computes with nothing else."""
    tensors = _header(spec).tensors
    elements = Counter[str]()
    for tensor in tensors:
        elements[tensor.packing] += tensor.elements
    (commonest, _), *_ = elements.most_common(1) or [("", 0)]
    return StoredWeights(
        method="gguf",
        bits=_bits(commonest),
        source="gguf",
        file_bytes=sum(tensor.stored_bytes for tensor in tensors),
        device_bytes=dict(unpacked_bytes),
        dequantized=True,
    )


def _header(spec: ModelSpec) -> GgufHeader:
    path = Path(spec.path or "") / (spec.gguf_file or "")
    try:
        header = read_gguf_header(path)
    except (NoGguf, OSError) as error:
        why = (error.strerror or "it cannot be read").lower() if isinstance(error, OSError) else str(error)
        raise broken_weights(spec.name, path.name, why) from error
    parts = int(header.metadata.get(SPLIT_COUNT, 1))
    if parts > 1:
        raise Refusal(
            "split_gguf",
            f"{path.name} of “{spec.name}” is one of {parts} parts; transformers reads a GGUF model from one file.",
            "Merge the parts (llama-gguf-split --merge) and choose the merged file.",
        )
    return header


def _bits(packing: str) -> int | None:
    """The digits in its name: Q4_K is 4, IQ2_XS is 2, BF16 is 16."""
    digits = re.search(r"\d+", packing)
    return int(digits.group()) if digits else None
