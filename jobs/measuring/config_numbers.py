"""What a config says that no model can be, told before a model's own code trips over it."""

from collections.abc import Iterator, Mapping
from typing import Any

WIDTHS = ("hidden_size", "n_embd", "d_model", "head_dim", "vocab_size")
HEADS = ("num_attention_heads", "n_head", "n_heads", "num_key_value_heads")
ABOVE_ZERO = (*WIDTHS, *HEADS, "num_hidden_layers", "n_layer", "n_layers")
BOUNDED = (*WIDTHS, *HEADS, "intermediate_size", "num_experts", "num_local_experts", "n_routed_experts")
MOST = 2**24
"""Sixteen times the largest vocabulary in use; every other of these numbers is far smaller."""
PARTS = ("text_config", "llm_config", "language_config")


def impossible(fields: Mapping[str, Any]) -> str | None:
    """The first such thing, as the end of a sentence; None where there is none."""
    quantization = fields.get("quantization_config")
    if quantization is not None and not isinstance(quantization, Mapping):
        return "its quantization_config is not an object"
    return next(_out_of_bounds(fields), None)


def _out_of_bounds(fields: Mapping[str, Any]) -> Iterator[str]:
    for part in (fields, *(fields[name] for name in PARTS if isinstance(fields.get(name), Mapping))):
        numbers = {name: value for name, value in part.items() if isinstance(value, int | float)}
        yield from (f"its {name} is {numbers[name]}" for name in ABOVE_ZERO if numbers.get(name, 1) <= 0)
        yield from (f"its {name} is {numbers[name]:,}" for name in BOUNDED if numbers.get(name, 1) > MOST)
