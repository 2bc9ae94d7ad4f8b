"""Tiny models of many architectures beside those of `tiny_configs`: of each, what makes its cache its own."""

from collections.abc import Mapping
from typing import Any

from transformers.models.auto.configuration_auto import CONFIG_MAPPING

from tests.measuring.tiny_configs import TINY, WINDOW

HALF = ["full_attention", "sliding_attention"] * 2
LINEAR = ["linear_attention", "full_attention"] * 2
SMALL: dict[str, Any] = (
    dict.fromkeys(("hidden_size", "d_model", "n_embd", "embedding_size", "word_embed_proj_dim"), 64)
    | dict.fromkeys(("intermediate_size", "ffn_dim", "n_inner", "ffn_hidden_size"), 96)
    | dict.fromkeys(("num_hidden_layers", "n_layer", "n_layers", "num_layers", "decoder_layers"), 4)
    | dict.fromkeys(("num_attention_heads", "n_head", "n_heads", "num_heads", "decoder_attention_heads"), 4)
    | dict.fromkeys(("max_position_embeddings", "n_positions", "max_seq_len", "n_ctx"), 512)
    | dict.fromkeys(("sliding_window", "window_size", "attention_chunk_size", "mamba_chunk_size", "chunk_size"), WINDOW)
    | dict.fromkeys(("num_experts", "num_local_experts", "n_routed_experts", "mamba_n_heads"), 4)
    | dict.fromkeys(("moe_intermediate_size", "shared_expert_intermediate_size", "shared_intermediate_size"), 32)
    | dict.fromkeys(("n_shared_experts", "n_group", "topk_group", "mamba_n_groups", "n_groups"), 1)
    | dict.fromkeys(("mamba_d_state", "state_size", "linear_key_head_dim", "linear_value_head_dim", "head_dim"), 16)
    | {"vocab_size": 128, "num_key_value_heads": 2, "num_experts_per_tok": 2, "mamba_d_head": 32, "rotary_dim": 8}
    | {"kv_lora_rank": 32, "qk_nope_head_dim": 16, "qk_rope_head_dim": 8, "v_head_dim": 16, "q_lora_rank": 24}
    | {"linear_num_key_heads": 2, "linear_num_value_heads": 4, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
)
"""What a field is made where a config has it."""
SIGHT = (
    dict.fromkeys(("hidden_size", "intermediate_size", "embed_dim", "mlp_dim"), 32)
    | dict.fromkeys(("num_hidden_layers", "depth", "num_layers"), 1)
    | dict.fromkeys(("num_attention_heads", "num_heads"), 2)
    | {"image_size": 28, "patch_size": 14, "out_hidden_size": 64, "projection_dim": 32, "num_position_embeddings": 16}
    | {"deepstack_visual_indexes": [0], "fullatt_block_indexes": [0], "layer_types": None}
)
MLA: dict[str, Any] = {"head_dim": 8, "num_key_value_heads": 4}
MROPE = {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [2, 3, 3]}
VARIANTS: dict[str, dict[str, Any]] = {
    "llama, one KV head": {"model_type": "llama", "num_key_value_heads": 1},
    "llama, no grouping": {"model_type": "llama", "num_key_value_heads": 4},
    "llama, wide heads": {"model_type": "llama", "head_dim": 48},
    "mistral without a window": {"model_type": "mistral", "sliding_window": None},
    "qwen2": {},
    "qwen2, windows above the second layer": {
        "model_type": "qwen2",
        "use_sliding_window": True,
        "max_window_layers": 2,
        "layer_types": None,
    },
    "qwen2_moe": {},
    "qwen3_5": {"layer_types": LINEAR},
    "qwen3_5_moe_text": {"layer_types": LINEAR},
    "qwen2_vl": {"text_config": {"rope_parameters": MROPE}},
    "qwen2_5_vl": {"text_config": {"rope_parameters": MROPE}},
    "qwen3_vl": {},
    "falcon, new decoder": {
        "model_type": "falcon",
        "new_decoder_architecture": True,
        "num_kv_heads": 2,
        "multi_query": False,
    },
    "falcon, every head": {"model_type": "falcon", "new_decoder_architecture": False, "multi_query": False},
    "deepseek_v2": MLA,
    "deepseek_v2, no low-rank query": MLA | {"model_type": "deepseek_v2", "q_lora_rank": None},
    "deepseek_v3, low-rank query": MLA | {"model_type": "deepseek_v3"},
    "deepseek_v32": MLA,
    "deepseek_v4": {},
    "minicpm3": MLA,
    "longcat_flash": MLA | {"moe_topk": 2, "ffn_hidden_size": 64, "expert_ffn_hidden_size": 16, "zero_expert_num": 1},
    "mimo_v2_flash": {},
    "gemma": {},
    "gemma3": {},
    "gemma3n_text": {
        "num_hidden_layers": 6,
        "intermediate_size": [96] * 6,
        "layer_types": ["sliding_attention", "full_attention"] * 3,
        "num_kv_shared_layers": 2,
        "hidden_size_per_layer_input": 8,
        "vocab_size_per_layer_input": 128,
        "laurel_rank": 8,
        "activation_sparsity_pattern": [0.0] * 6,
    },
    "gemma4_text": {
        "num_hidden_layers": 6,
        "layer_types": ["sliding_attention", "full_attention"] * 3,
        "num_kv_shared_layers": 2,
        "hidden_size_per_layer_input": 8,
        "vocab_size_per_layer_input": 128,
        "global_head_dim": 32,
    },
    "vaultgemma": {"layer_types": HALF},
    "llama4_text": {"layer_types": ["chunked_attention", "full_attention"] * 2},
    "exaone": {},
    "exaone4": {"layer_types": HALF},
    "olmo": {},
    "olmo2": {},
    "olmo3": {"layer_types": HALF},
    "olmo_hybrid": {"layer_types": LINEAR},
    "olmoe": {},
    "smollm3": {"layer_types": None},
    "ministral": {"layer_types": HALF},
    "cohere": {},
    "granite": {},
    "granitemoe": {},
    "glm": {},
    "glm4": {},
    "glm4_moe": {},
    "hunyuan_v1_dense": {},
    "hunyuan_v1_moe": {},
    "seed_oss": {},
    "arcee": {},
    "apertus": {},
    "doge": {"layer_types": None, "sliding_window": None},
    "ernie4_5": {},
    "ernie4_5_moe": {"moe_num_experts": 4, "moe_k": 2},
    "minimax_m2": {},
    "modernbert-decoder": {"layer_types": HALF},
    "nemotron": {},
    "stablelm": {},
    "starcoder2": {},
    "phi": {},
    "phimoe": {},
    "persimmon": {},
    "mpt": {},
    "gpt_neo": {"attention_types": [[["global", "local"], 2]], "attention_layers": ["global", "local"] * 2},
    "gpt_neox": {},
    "gpt_bigcode": {},
    "gptj": {},
    "codegen": {},
    "biogpt": {},
    "xglm": {},
    "jetmoe": {"kv_channels": 16},
    "mamba": {},
    "falcon_mamba": {},
    "jamba": {"attn_layer_period": 2, "attn_layer_offset": 1, "layer_types": ..., "mamba_dt_rank": 4},
    "bamba": {"attn_layer_indices": [1, 3], "layer_types": ...},
    "falcon_h1": {"mamba_d_ssm": 128},
    "nemotron_h": {},
    "zamba": {
        "num_hidden_layers": 6,
        "attn_layer_period": 3,
        "attn_layer_offset": 1,
        "n_mamba_heads": 2,
        "num_key_value_heads": 4,
        "attention_head_dim": 32,
    },
    "zamba2": {
        "num_hidden_layers": 5,
        "layer_types": ["mamba", "hybrid", "mamba", "hybrid", "mamba"],
        "hybrid_layer_ids": [1, 3],
        "n_mamba_heads": 4,
        "mamba_ngroups": 1,
        "mamba_headdim": 32,
        "num_mem_blocks": 1,
    },
    "lfm2_moe": {"layer_types": ["conv", "full_attention"] * 2, "num_dense_layers": 1},
    "mllama": {},
    "llava": {},
    "paligemma": {},
    "idefics3": {},
    "internvl": {},
    "mistral3": {},
}
EVERY = (*TINY, *VARIANTS)


def tiny_fields(name: str) -> dict[str, Any]:
    """The config.json of a variant, small, whatever its class calls its sizes."""
    if name in TINY:
        return {"model_type": name} | TINY[name]
    own = {"model_type": name} | VARIANTS[name]
    fields = _shrunk(CONFIG_MAPPING[own["model_type"]]().to_dict())
    merged = {f: fields[f] | value if isinstance(fields.get(f), dict) else value for f, value in own.items()}
    return {field: value for field, value in (fields | merged).items() if value is not ...}


def _shrunk(fields: Mapping[str, Any]) -> dict[str, Any]:
    small: dict[str, Any] = {field: value for field, value in SMALL.items() if field in fields}
    for part, sizes in (("text_config", SMALL), ("vision_config", SIGHT)):
        if isinstance(fields.get(part), dict):
            inner = fields[part]
            small[part] = {field: value for field, value in sizes.items() if field in inner}
            small[part] |= {"model_type": inner["model_type"]} if "model_type" in inner else {}
    for types in ("layer_types", "mlp_layer_types"):
        if isinstance(fields.get(types), list):
            small[types] = (list(dict.fromkeys(fields[types])) * 4)[:4]
        if isinstance(small.get("text_config"), dict) and isinstance(fields["text_config"].get(types), list):
            small["text_config"][types] = (list(dict.fromkeys(fields["text_config"][types])) * 4)[:4]
    return small
