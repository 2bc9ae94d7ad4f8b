"""Small models of many architectures, few layers but wide enough that working memory is tens of MiB, and what is
measured of each."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

SIZES: dict[str, Any] = {
    "vocab_size": 2048,
    "hidden_size": 512,
    "intermediate_size": 1536,
    "num_hidden_layers": 3,
    "num_attention_heads": 8,
    "num_key_value_heads": 2,
    "head_dim": 64,
    "max_position_embeddings": 8192,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
MIXED = SIZES | {
    "num_hidden_layers": 4,
    "sliding_window": 512,
    "layer_types": ["sliding_attention", "full_attention"] * 2,
}
EXPERTS = {"num_experts": 8, "num_local_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 256}
PER_LAYER = {"num_kv_shared_layers": 2, "vocab_size_per_layer_input": 2048, "hidden_size_per_layer_input": 64}
OLD = {"vocab_size": 2048, "hidden_size": 512, "num_hidden_layers": 3, "num_attention_heads": 8}

CONFIGS: dict[str, dict[str, Any]] = {
    "llama": SIZES,
    "qwen3": SIZES | {"head_dim": 128},
    "phi3": SIZES | {"sliding_window": None},
    "mistral": SIZES | {"sliding_window": 512},
    "gemma2": MIXED,
    "gemma3_text": MIXED,
    "cohere2": MIXED,
    "gpt_oss": MIXED | EXPERTS | {"intermediate_size": 512},
    "gemma3n_text": MIXED
    | PER_LAYER
    | {"intermediate_size": 1024, "laurel_rank": 16, "activation_sparsity_pattern": [0.0] * 4, "altup_num_inputs": 2},
    "gemma4_text": MIXED | PER_LAYER | {"global_head_dim": 64},
    "llama4_text": SIZES
    | {
        "num_hidden_layers": 4,
        "intermediate_size": 512,
        "intermediate_size_mlp": 1536,
        "attention_chunk_size": 512,
        "num_local_experts": 4,
        "num_experts_per_tok": 1,
        "layer_types": ["chunked_attention"] * 3 + ["full_attention"],
        "moe_layers": [1, 3],
        "no_rope_layers": [1, 1, 1, 0],
    },
    "deepseek_v3": SIZES
    | {
        "num_key_value_heads": 8,
        "moe_intermediate_size": 256,
        "n_routed_experts": 8,
        "num_experts_per_tok": 2,
        "n_shared_experts": 1,
        "n_group": 1,
        "topk_group": 1,
        "first_k_dense_replace": 1,
        "kv_lora_rank": 128,
        "q_lora_rank": 256,
        "qk_nope_head_dim": 64,
        "qk_rope_head_dim": 32,
        "v_head_dim": 64,
        "head_dim": 32,
    },
    "qwen3_moe": SIZES | EXPERTS,
    "mixtral": SIZES | EXPERTS | {"intermediate_size": 512},
    "granitemoehybrid": SIZES
    | {
        "num_hidden_layers": 4,
        "layer_types": ["mamba", "attention"] * 2,
        "num_local_experts": 4,
        "num_experts_per_tok": 2,
        "shared_intermediate_size": 512,
        "intermediate_size": 512,
        "mamba_n_heads": 16,
        "mamba_d_head": 64,
        "mamba_d_state": 32,
        "mamba_n_groups": 1,
        "mamba_chunk_size": 64,
        "position_embedding_type": "nope",
    },
    "qwen3_next": SIZES
    | EXPERTS
    | {
        "num_hidden_layers": 4,
        "layer_types": ["linear_attention", "full_attention"] * 2,
        "shared_expert_intermediate_size": 256,
        "linear_num_key_heads": 4,
        "linear_num_value_heads": 8,
        "linear_key_head_dim": 64,
        "linear_value_head_dim": 64,
    },
    "lfm2": SIZES | {"num_hidden_layers": 4, "layer_types": ["conv", "full_attention"] * 2},
    "falcon": OLD | {"multi_query": True, "new_decoder_architecture": False},
    "bloom": {"vocab_size": 2048, "hidden_size": 512, "n_layer": 3, "n_head": 8},
    "gpt2": {"vocab_size": 2048, "n_positions": 4096, "n_embd": 512, "n_layer": 3, "n_head": 8},
    "opt": OLD | {"ffn_dim": 2048, "word_embed_proj_dim": 512, "max_position_embeddings": 4096},
}


@dataclass(frozen=True, kw_only=True)
class Point:
    """A prompt of so many tokens for so many sequences; padded: their lengths differ, the longest is as said."""

    tokens: int
    sequences: int = 1
    strategy: str = "default"
    padded: bool = False


@dataclass(frozen=True, kw_only=True)
class Subject:
    """One model in one precision and with one attention: what one process measures."""

    model_type: str
    dtype: str
    attention: str
    points: tuple[Point, ...]


LONG, SEVERAL, PADDED = (
    Point(tokens=3000),
    Point(tokens=1200, sequences=3),
    Point(tokens=1100, sequences=3, padded=True),
)
SHORT, PAIR = Point(tokens=256), Point(tokens=1100, sequences=2, padded=True)
CHUNKED, STATIC = Point(tokens=4096, strategy="chunked:512"), Point(tokens=1300, sequences=2, strategy="static")
QUANTIZED = tuple(
    Point(tokens=1500, strategy=f"quantized:{kind}")
    for kind in ("hqq:8", "hqq:4", "hqq:2", "quanto:4", "quanto:2", "fp8")
)
COMBINED_STATIC = Point(tokens=2048, strategy="static+chunked:512")
COMBINED = (
    Point(tokens=2048, strategy="quantized:fp8+chunked:512"),
    Point(tokens=2048, strategy="quantized:quanto:4+chunked:512"),
)
QUANTIZED_SEVERAL = Point(tokens=1000, sequences=3, strategy="quantized:quanto:4")
OF_ITS_OWN = {
    "llama": (SHORT, STATIC, CHUNKED, COMBINED_STATIC),
    "mistral": (CHUNKED, STATIC),
    "gemma3_text": (CHUNKED, STATIC),
    "deepseek_v3": (CHUNKED,),
    "gpt2": (STATIC,),
    "granitemoehybrid": (CHUNKED,),
    "opt": (SHORT,),
}
WITHOUT_SDPA = ("bloom", "gemma2", "gpt_oss")
"""Classes that know eager attention alone, as a process must be asked for it."""
IN_FLOAT32 = ("llama", "gemma3_text", "deepseek_v3", "qwen3_moe", "granitemoehybrid", "qwen3_next", "falcon", "gpt2")
ALSO_EAGER = ("llama", "mistral", "qwen3_moe")
EAGER_LONG = Point(tokens=1500)


def subjects() -> Iterator[Subject]:
    for points in ((*QUANTIZED, *COMBINED), (QUANTIZED_SEVERAL,)):
        yield Subject(model_type="llama", dtype="bfloat16", attention="sdpa", points=points)
    for model_type in CONFIGS:
        eager = model_type in WITHOUT_SDPA
        attention, long = ("eager", EAGER_LONG) if eager else ("sdpa", LONG)
        points = (long, SEVERAL, PADDED, *OF_ITS_OWN.get(model_type, ()))
        yield Subject(model_type=model_type, dtype="bfloat16", attention=attention, points=points)
        if model_type in IN_FLOAT32:
            yield Subject(model_type=model_type, dtype="float32", attention=attention, points=(long, PADDED))
        if model_type in ALSO_EAGER:
            yield Subject(model_type=model_type, dtype="bfloat16", attention="eager", points=(EAGER_LONG, PAIR))
