"""compressed-tensors: packed in the files, decompressed at the first forward pass; only the scales stay beside.

Seen with compressed-tensors 0.20: after the first pass every packed weight is in the compute precision, and so are
`weight_scale` and, for inputs with fixed scales, `input_scale`.
"""

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

import torch

from jobs.measuring.linear_layers import Linear, linears, patch_experts
from jobs.measuring.meta_weights import weights_bytes


def compressed_tensors(model: Any, fields: Mapping[str, Any], dtype: torch.dtype) -> tuple[int, int | None]:
    """Bytes on the device after the first pass, and the bits of a packed weight (of the first group)."""
    patch_experts(model, "compressed-tensors")
    groups = [dict(group) for group in (fields.get("config_groups") or {}).values()]
    ignored = fields.get("ignore") or []
    scale_elements = 0
    for linear, module in linears(model):
        kind = type(module).__name__
        if _matches(linear.name, kind, ignored):
            continue
        group = next((one for one in groups if _matches(linear.name, kind, one.get("targets") or [])), None)
        scale_elements += _scales(linear, group) if group else 0
    bits = next((int(group["weights"]["num_bits"]) for group in groups if group.get("weights")), None)
    return weights_bytes(model, dtype) + dtype.itemsize * scale_elements, bits


def _matches(name: str, kind: str, targets: Iterable[str]) -> bool:
    """A target is a class, a module's name, or a regular expression behind `re:`."""
    return any(re.match(target[3:], name) if target.startswith("re:") else target in (name, kind) for target in targets)


def _scales(linear: Linear, group: Mapping[str, Any]) -> int:
    weights, inputs = group.get("weights"), group.get("input_activations")
    fixed_inputs = 1 if inputs and not inputs.get("dynamic") else 0
    return fixed_inputs + (_weight_scales(linear, weights) if weights else 0)


def _weight_scales(linear: Linear, weights: Mapping[str, Any]) -> int:
    match weights.get("strategy"):
        case "channel":
            return linear.outputs
        case "group" | "tensor_group":
            return linear.outputs * math.ceil(linear.inputs / int(weights["group_size"]))
        case "block":
            rows, columns = weights["block_structure"]
            return math.ceil(linear.outputs / int(rows)) * math.ceil(linear.inputs / int(columns))
        case _:
            return 1
