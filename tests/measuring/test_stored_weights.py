"""Packed weights by quantization_config: bytes as the quantizers of transformers pack the modules of each model."""

import itertools
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
import torch
from transformers import AutoConfig

from jobs.measuring.meta_model import build_model
from jobs.measuring.meta_weights import weights_bytes
from jobs.measuring.stored_weights import quantization_fields, stored_weights
from jobs.sizing import architectures
from jobs.sizing.model_spec import ModelKind, ModelSpec
from jobs.sizing.record import InspectionRecord, StoredWeights
from jobs.sizing.stored import stays_packed, stored_json, stored_sentence
from tests.measuring.tiny_configs import TINY
from tests.sizing.records import record

SPEC = ModelSpec(kind=ModelKind.ARCHITECTURE, name="mine", random_weights=True)
LLAMA = {
    "model_type": "llama",
    "hidden_size": 128,
    "intermediate_size": 320,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "vocab_size": 1000,
}
GPT2 = {"model_type": "gpt2", "n_embd": 128, "n_layer": 2, "n_head": 4, "vocab_size": 1000, "n_positions": 64}
LLAMA_7B = {
    "model_type": "llama",
    "hidden_size": 4096,
    "intermediate_size": 11008,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "vocab_size": 32000,
}
SHAPES = [(128, 128), (64, 128), (64, 128), (128, 128), (320, 128), (320, 128), (128, 320)] * 2
"""(outputs, inputs) of the linear layers of LLAMA's two layers."""
LINEARS = sum(rows * columns for rows, columns in SHAPES)
ROWS = sum(rows for rows, _ in SHAPES)
PLAIN_BYTES = 2 * (2 * 1000 * 128 + 5 * 128)
"""LLAMA's embeddings, output matrix and norms in bfloat16."""
BNB4 = {"quant_method": "bitsandbytes", "load_in_4bit": True}
NESTED = BNB4 | {"bnb_4bit_use_double_quant": True}
BNB8 = {"quant_method": "bitsandbytes", "load_in_8bit": True}
FP8 = {"quant_method": "fp8", "activation_scheme": "dynamic", "weight_block_size": [128, 128]}


def stored(fields: Mapping[str, Any], quantization: Any, dtype: str = "bfloat16") -> StoredWeights:
    more = dict(fields)
    config = AutoConfig.for_model(more.pop("model_type"), **more, quantization_config=quantization)

    def build(name: str) -> Any:
        return build_model(SPEC, config, dtype=getattr(torch, name), attention="sdpa")

    model = build(dtype)
    found = stored_weights(SPEC, config, model, {dtype: weights_bytes(model, getattr(torch, dtype))}, build)
    assert found is not None
    return found


def device_bytes(fields: Mapping[str, Any], quantization: Any, dtype: str = "bfloat16") -> int:
    return stored(fields, quantization, dtype).device_bytes[dtype]


@pytest.mark.parametrize(
    ("fields", "quantization", "measured_bytes"),
    [
        (LLAMA, BNB4, 707_712),
        (LLAMA, NESTED, 706_080),
        (LLAMA, BNB8, 866_560),
        (GPT2, BNB4, 501_248),
        (GPT2, NESTED, 491_136),
        (GPT2, BNB8, 681_984),
    ],
)
def test_bitsandbytes_takes_what_was_measured_of_models_that_it_packed(
    fields: Mapping[str, Any], quantization: Mapping[str, Any], measured_bytes: int
) -> None:
    """Storages of parameters, scales and tables, read from models loaded with bitsandbytes 0.50.2 on a CPU."""
    assert device_bytes(fields, quantization) == measured_bytes


@pytest.mark.parametrize(("method", "published_gb"), [("gptq", 3.90), ("awq", 3.89)])
def test_published_4_bit_files_of_a_7b_model_have_its_size(method: str, published_gb: float) -> None:
    """The sizes of TheBloke's Llama-2-7B files; the GPTQ one also holds biases of zeros that the model has not."""
    group = {"quant_method": method, "bits": 4, "group_size": 128}
    assert device_bytes(LLAMA_7B, group) == pytest.approx(published_gb * 1e9, abs=0.0065e9)


def test_gptq_holds_codes_zero_points_scales_and_the_groups_of_the_inputs() -> None:
    for bits, group in itertools.product((4, 8), (32, 64, -1)):
        packed = 0
        for outputs, inputs in SHAPES:
            groups = 1 if group == -1 else inputs // group
            packed += outputs * inputs * bits // 8 + groups * outputs * bits // 8 + 2 * groups * outputs + 4 * inputs
        found = stored(LLAMA, {"quant_method": "gptq", "bits": bits, "group_size": group, "desc_act": True})
        assert (found.bits, found.device_bytes["bfloat16"]) == (bits, packed + PLAIN_BYTES)


def test_fp8_in_blocks_has_a_float32_scale_for_each_block_begun() -> None:
    blocks = sum(-(-rows // 128) * -(-columns // 128) for rows, columns in SHAPES)
    assert device_bytes(LLAMA, FP8) == LINEARS + 4 * blocks + PLAIN_BYTES
    whole = FP8 | {"weight_block_size": None}
    assert device_bytes(LLAMA, whole) == LINEARS + 4 * len(SHAPES) + PLAIN_BYTES


def test_modules_that_are_not_converted_stay_in_the_compute_precision() -> None:
    kept = FP8 | {"modules_to_not_convert": ["lm_head", "model.layers.0"]}
    half = LINEARS // 2
    assert device_bytes(LLAMA, kept) == half + 2 * half + 4 * _blocks(SHAPES[:7]) + PLAIN_BYTES
    everything = FP8 | {"modules_to_not_convert": []}
    head = 128 * 1000
    assert device_bytes(LLAMA, everything) == LINEARS + head + 4 * (_blocks(SHAPES) + 8) + PLAIN_BYTES - 2 * head


def _blocks(shapes: list[tuple[int, int]]) -> int:
    return sum(-(-rows // 128) * -(-columns // 128) for rows, columns in shapes)


def test_what_is_not_packed_follows_the_compute_precision() -> None:
    assert device_bytes(LLAMA, FP8, "float32") - device_bytes(LLAMA, FP8) == PLAIN_BYTES
    assert device_bytes(LLAMA, BNB4, "float32") - device_bytes(LLAMA, BNB4) == PLAIN_BYTES


def test_fused_experts_are_packed_by_fp8_and_left_alone_by_bitsandbytes() -> None:
    moe = {"model_type": "qwen3_moe", **TINY["qwen3_moe"]}
    experts = 4 * 4 * (2 * 32 * 64 + 32 * 64)  # layers, experts, both projections
    plain = stored(moe, {"quant_method": "unheard-of"}).device_bytes["bfloat16"]
    fp8 = stored(moe, FP8).device_bytes["bfloat16"]
    attention = 4 * (2 * 64 * 64 + 2 * 32 * 64)
    scales = 4 * (4 * 4 + 4 * 4 * (2 + 1))  # a block a projection; the fused one keeps a scale for each half
    assert fp8 == plain - (experts + attention) + scales
    bnb = stored(moe, BNB8).device_bytes["bfloat16"]
    assert bnb == plain - attention + 4 * 4 * (64 + 32 + 32 + 64)


def test_gpt_oss_20b_takes_its_published_bytes_and_biases_in_float32() -> None:
    kept = ["model.layers.*.self_attn", "model.layers.*.mlp.router", "model.embed_tokens", "lm_head"]
    fields = {
        name: value for name, value in architectures.config("gpt-oss-20b").items() if name != "quantization_config"
    }
    found = stored(fields, {"quant_method": "mxfp4", "modules_to_not_convert": kept})
    experts_biases = 24 * 32 * (2 * 2880 + 2880)
    assert found.device_bytes["bfloat16"] == 13_761_264_768 + 2 * experts_biases
    assert (found.method, found.bits, found.dequantized) == ("mxfp4", 4, False)
    assert "cpu" in found.unpacked_on


def test_compressed_tensors_are_decompressed_by_the_first_pass() -> None:
    """As read from a model after its first pass with compressed-tensors 0.20: the scales stay."""
    weights = {"num_bits": 8, "type": "float", "strategy": "channel", "symmetric": True}
    group = {"targets": ["Linear"], "weights": weights, "input_activations": {"num_bits": 8, "dynamic": True}}
    found = stored(
        LLAMA,
        {"quant_method": "compressed-tensors", "config_groups": {"group_0": group}, "ignore": ["lm_head"]},
    )
    assert (found.dequantized, found.bits) == (True, 8)
    assert found.device_bytes["bfloat16"] == 1_206_016


def test_an_unknown_method_is_named_and_its_size_not_guessed() -> None:
    found = stored(LLAMA, {"quant_method": "unheard-of", "bits": 2})
    assert (found.method, found.bits) == ("unheard-of", None)
    assert found.device_bytes == {"bfloat16": 2 * LINEARS + PLAIN_BYTES}
    assert "not known" in _sentence(found)
    assert "bfloat16" in _sentence(found)


def test_a_quantization_config_that_is_no_object_is_an_error() -> None:
    with pytest.raises(TypeError):
        quantization_fields(AutoConfig.for_model("llama", quantization_config="4 bits"))


def test_the_sentence_says_where_packing_saves_nothing_and_that_the_cache_is_not_packed() -> None:
    assert "the KV cache stays in bfloat16" in _sentence(stored(LLAMA, BNB4))
    assert "as on cpu" in _sentence(stored(LLAMA, FP8))


def test_a_run_holds_packed_weights_where_they_are_neither_drawn_nor_unpacked() -> None:
    fp8, bnb = (replace(record(), stored=stored(LLAMA, one)) for one in (FP8, BNB4))
    assert [stays_packed(one, device) for one in (fp8, bnb) for device in ("cpu", "cuda:0")] == [
        False,
        True,
        True,
        True,
    ]
    assert not stays_packed(replace(bnb, random_weights=True), "cuda:0")


def _sentence(found: StoredWeights) -> str:
    packed = InspectionRecord.from_json(json.loads(json.dumps(replace(record(), stored=found).as_json())))
    assert packed.stored == found
    told = stored_json(packed, "bfloat16")
    assert told is not None
    return stored_sentence(told, "bfloat16")
