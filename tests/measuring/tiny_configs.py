"""Tiny models of many architectures: the config fields that make one, each with its cache's own peculiarity."""

from typing import Any

SIZES: dict[str, Any] = {
    "vocab_size": 128,
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "max_position_embeddings": 512,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
WINDOW = 16
ALTERNATING = ["sliding_attention", "full_attention"] * 2
EXPERTS = {"num_experts": 4, "num_local_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 32}

TINY: dict[str, dict[str, Any]] = {
    "llama": SIZES,
    "qwen3": SIZES,
    "phi3": SIZES | {"sliding_window": WINDOW},
    "mistral": SIZES | {"sliding_window": WINDOW},
    "gemma2": SIZES | {"sliding_window": WINDOW, "layer_types": ALTERNATING},
    "gemma3_text": SIZES | {"sliding_window": WINDOW, "layer_types": ALTERNATING},
    "cohere2": SIZES | {"sliding_window": WINDOW, "layer_types": ALTERNATING},
    "gpt_oss": SIZES | EXPERTS | {"sliding_window": WINDOW, "layer_types": ALTERNATING},
    "mixtral": SIZES | EXPERTS,
    "qwen3_moe": SIZES | EXPERTS,
    "gpt2": {"vocab_size": 128, "n_positions": 512, "n_embd": 64, "n_layer": 4, "n_head": 4},
    "opt": {
        "vocab_size": 128,
        "hidden_size": 64,
        "ffn_dim": 96,
        "num_hidden_layers": 4,
        "num_attention_heads": 4,
        "word_embed_proj_dim": 64,
        "max_position_embeddings": 512,
    },
    "bloom": {"vocab_size": 128, "hidden_size": 64, "n_layer": 4, "n_head": 4},
    "falcon": {
        "vocab_size": 128,
        "hidden_size": 64,
        "num_hidden_layers": 4,
        "num_attention_heads": 4,
        "multi_query": True,
        "new_decoder_architecture": False,
    },
    "deepseek_v3": SIZES
    | {
        "num_key_value_heads": 4,
        "head_dim": 8,
        "moe_intermediate_size": 32,
        "n_routed_experts": 4,
        "num_experts_per_tok": 2,
        "n_shared_experts": 1,
        "n_group": 1,
        "topk_group": 1,
        "first_k_dense_replace": 1,
        "kv_lora_rank": 32,
        "q_lora_rank": None,
        "qk_nope_head_dim": 16,
        "qk_rope_head_dim": 8,
        "v_head_dim": 16,
    },
    "granitemoehybrid": SIZES
    | {
        "layer_types": ["mamba", "attention"] * 2,
        "num_local_experts": 4,
        "num_experts_per_tok": 2,
        "shared_intermediate_size": 32,
        "mamba_n_heads": 4,
        "mamba_d_head": 32,
        "mamba_d_state": 16,
        "mamba_n_groups": 1,
        "mamba_chunk_size": 16,
        "position_embedding_type": "nope",
    },
    "qwen3_next": SIZES
    | EXPERTS
    | {
        "layer_types": ["linear_attention", "full_attention"] * 2,
        "shared_expert_intermediate_size": 32,
        "linear_num_key_heads": 2,
        "linear_num_value_heads": 4,
        "linear_key_head_dim": 16,
        "linear_value_head_dim": 16,
    },
    "lfm2": SIZES | {"layer_types": ["conv", "full_attention"] * 2},
    "mamba2": {
        "vocab_size": 128,
        "hidden_size": 32,
        "num_hidden_layers": 3,
        "num_heads": 4,
        "head_dim": 16,
        "state_size": 16,
        "n_groups": 1,
        "chunk_size": 16,
    },
}
