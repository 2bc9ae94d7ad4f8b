"""What a config says that no model can be, told before a model's own code trips over it."""

from collections.abc import Iterator, Mapping
from typing import Any

ABOVE_ZERO = ("hidden_size", "vocab_size", "num_hidden_layers", "num_attention_heads")
PARTS = ("text_config", "llm_config", "language_config")


def impossible(fields: Mapping[str, Any]) -> str | None:
    """The first such thing, as the end of a sentence; None where there is none."""
    quantization = fields.get("quantization_config")
    if quantization is not None and not isinstance(quantization, Mapping):
        return "its quantization_config is not an object"
    return next(_not_above_zero(fields), None)


def _not_above_zero(fields: Mapping[str, Any]) -> Iterator[str]:
    for part in (fields, *(fields[name] for name in PARTS if isinstance(fields.get(name), Mapping))):
        for name in ABOVE_ZERO:
            value = part.get(name)
            if isinstance(value, int | float) and value <= 0:
                yield f"its {name} is {value}"
