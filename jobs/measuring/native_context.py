"""The longest context that a model's config says it was made for."""

from collections.abc import Mapping
from typing import Any

NAMES = ("max_position_embeddings", "n_positions", "max_sequence_length", "seq_length", "max_seq_len", "n_ctx")
EXTENDING = frozenset({"yarn", "linear", "dynamic"})
"""Scalings that a user sets on top of `max_position_embeddings`; llama3 and longrope are within it already."""


def native_context(config: Any, fields: Mapping[str, Any]) -> int | None:
    """Tokens; None where the config sets no maximum.

    `config` is the text model's config, `fields` the config.json it came from. A rope scaling that names the
    length it starts from (`original_max_position_embeddings`) reaches factor × that length.
    """
    text_fields = fields.get("text_config") if isinstance(fields.get("text_config"), Mapping) else fields
    found = next((value for value in (_length(config, text_fields or {}, name) for name in NAMES) if value), None)
    scaled = _scaled(text_fields or {})
    lengths = [length for length in (found, scaled) if length]
    return max(lengths, default=None)


def _length(config: Any, fields: Mapping[str, Any], name: str) -> int | None:
    value = getattr(config, name, None)
    value = fields.get(name) if value is None else value
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def _scaled(fields: Mapping[str, Any]) -> int | None:
    scaling = fields.get("rope_scaling") or fields.get("rope_parameters")
    if not isinstance(scaling, Mapping):
        return None
    kind = scaling.get("rope_type") or scaling.get("type")
    factor, original = scaling.get("factor"), scaling.get("original_max_position_embeddings")
    if kind not in EXTENDING or not isinstance(factor, int | float) or not isinstance(original, int):
        return None
    return int(factor * original)
