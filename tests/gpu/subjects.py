"""The two models that are checked: real dimensions with random weights on a GPU, tiny ones in the rehearsal."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jobs.sizing.model_spec import ModelKind, ModelSpec
from jobs.sizing.units import GIB

LLAMA_8B: dict[str, Any] = {
    "model_type": "llama",
    "vocab_size": 128256,
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "max_position_embeddings": 131072,
    "tie_word_embeddings": False,
}
# Mistral-7B-v0.1's: every layer looks at the last 4,096 tokens.
WINDOWED_7B: dict[str, Any] = LLAMA_8B | {"model_type": "mistral", "vocab_size": 32000, "sliding_window": 4096}
SMALL: dict[str, Any] = {
    "vocab_size": 512,
    "hidden_size": 64,
    "intermediate_size": 64,
    "num_hidden_layers": 1,
    "num_attention_heads": 1,
    "num_key_value_heads": 1,
    "head_dim": 64,
    "tie_word_embeddings": True,
}
CAPACITY_BYTES = 24 * GIB
BFLOAT16_BYTES = 2


@dataclass(frozen=True, kw_only=True)
class Subject:
    """points: strategy and prompt, the most valuable first. too_long: a prompt beyond the capacity; None for none."""

    name: str
    config: Mapping[str, Any]
    points: tuple[tuple[str, int], ...]
    inspected_tokens: tuple[int, ...]
    too_long: int | None
    answer_tokens: int

    @property
    def spec(self) -> ModelSpec:
        return ModelSpec(kind=ModelKind.ARCHITECTURE, name=self.name, config=dict(self.config), random_weights=True)

    @property
    def token_bytes(self) -> int:
        """What one token of one sequence takes in a growing cache: keys and values of every layer."""
        config = self.config
        return (
            int(config["num_hidden_layers"] * config["num_key_value_heads"] * 2 * config["head_dim"]) * BFLOAT16_BYTES
        )

    @property
    def strategies(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(("default", *(name for name, _ in self.points))))


ON_A_GPU = (
    Subject(
        name="Llama-3.1-8B's architecture",
        config=LLAMA_8B,
        points=(
            ("default", 8192),
            ("offloaded", 16384),
            ("default", 2048),
            ("default", 16384),
            ("chunked:512", 16384),
            ("quantized:hqq:4", 8192),
            ("static", 8192),
            ("offloaded_static", 8192),
            ("quantized:quanto:4", 8192),
            ("quantized:hqq:8", 8192),
            ("quantized:fp8", 8192),
        ),
        inspected_tokens=(2048, 8192, 16384),
        too_long=65536,
        answer_tokens=32,
    ),
    Subject(
        name="Mistral-7B-v0.1's dimensions (windowed)",
        config=WINDOWED_7B,
        points=(("default", 16384), ("chunked:512", 16384), ("offloaded", 16384), ("quantized:hqq:4", 2048)),
        inspected_tokens=(2048, 8192, 16384),
        too_long=None,
        answer_tokens=32,
    ),
)
REHEARSED = (
    Subject(
        name="a tiny llama",
        config=SMALL | {"model_type": "llama"},
        points=(("default", 512), ("offloaded", 512), ("quantized:hqq:4", 64)),
        inspected_tokens=(64, 512),
        too_long=4096,
        answer_tokens=4,
    ),
    Subject(
        name="a tiny mistral",
        config=SMALL | {"model_type": "mistral", "sliding_window": 16},
        points=(("quantized:hqq:4", 64),),
        inspected_tokens=(64,),
        too_long=None,
        answer_tokens=4,
    ),
)
