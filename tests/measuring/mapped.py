"""A small model in a folder, whose weights transformers maps from their file instead of reading them."""

import json
from pathlib import Path

import torch
from safetensors.torch import save_file

from jobs.sizing.model_spec import ModelKind, ModelSpec
from tests.measuring.conftest import LLAMA

WIDTH, INNER = 256, 20_000  # one layer's MLP of 3 · 256 · 20,000 float32: 59 MiB


def mapped_model(folder: Path) -> ModelSpec:
    layer = "model.layers.0."
    shapes = {
        "model.embed_tokens": (512, WIDTH),
        "model.norm": (WIDTH,),
        layer + "input_layernorm": (WIDTH,),
        layer + "post_attention_layernorm": (WIDTH,),
        **{layer + f"self_attn.{name}_proj": (WIDTH, WIDTH) for name in "qkvo"},
        layer + "mlp.gate_proj": (INNER, WIDTH),
        layer + "mlp.up_proj": (INNER, WIDTH),
        layer + "mlp.down_proj": (WIDTH, INNER),
    }
    weights = {f"{name}.weight": torch.full(shape, 0.01) for name, shape in shapes.items()}
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    config = LLAMA | {"intermediate_size": INNER, "num_hidden_layers": 1, "architectures": ["LlamaForCausalLM"]}
    (folder / "config.json").write_text(json.dumps(config))
    return ModelSpec(kind=ModelKind.FOLDER, name="mapped", path=str(folder))
