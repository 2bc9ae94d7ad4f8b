"""Models that cannot be inspected say why."""

import json
from pathlib import Path
from typing import Any

import pytest

from jobs.measuring.inspect import inspect_model_spec
from jobs.measuring.native_context import native_context
from jobs.sizing.model_spec import ModelKind, ModelSpec
from jobs.sizing.refusal import Refusal
from tests.measuring.tiny_configs import SIZES


def refusal(spec: ModelSpec, **more: Any) -> Refusal:
    asked: dict[str, Any] = {"dtypes": ["bfloat16"], "sequences": [1], "tokens": [16], "strategies": ["default"]}
    with pytest.raises(Refusal) as refused:
        inspect_model_spec(spec, **asked | more)
    assert refused.value.hint
    return refused.value


def folder(path: Path, fields: object) -> ModelSpec:
    (path / "config.json").write_text(json.dumps(fields))
    return ModelSpec(kind=ModelKind.FOLDER, name="mine", path=str(path))


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"model_type": "no_such_type"}, "unknown_model_type"),
        ({"model_type": "phi-msft", "auto_map": {"AutoConfig": "a.B"}}, "needs_remote_code"),
        ({"model_type": "clip"}, "unknown_model_type"),
        ({"hidden_size": 64}, "broken_config"),
        ({"model_type": "llama", "hidden_size": "wide"}, "broken_config"),
        (SIZES | {"model_type": "llama", "num_attention_heads": 0}, "broken_config"),
        (SIZES | {"model_type": "llama", "num_hidden_layers": -1}, "broken_config"),
        (SIZES | {"model_type": "rwkv"}, "no_cache"),
        (SIZES | {"model_type": "recurrent_gemma"}, "no_cache"),
        ({"model_type": "bamba", "num_hidden_layers": 2}, "no_cache"),
        ({"model_type": "blip"}, "unknown_model_type"),
        (SIZES | {"model_type": "llama", "num_key_value_heads": 3}, "broken_config"),
        (SIZES | {"model_type": "llama", "num_key_value_heads": -2}, "broken_config"),
        (SIZES | {"model_type": "llama", "head_dim": 0}, "broken_config"),
        (SIZES | {"model_type": "llama", "head_dim": -16}, "broken_config"),
        (SIZES | {"model_type": "llama", "head_dim": 10**9}, "broken_config"),
        (SIZES | {"model_type": "llama", "vocab_size": 10**12}, "broken_config"),
        (SIZES | {"model_type": "llama", "intermediate_size": -5}, "broken_config"),
        (SIZES | {"model_type": "llama", "text_config": {"hidden_size": 8}}, "broken_config"),
        (SIZES | {"model_type": "llama", "rope_scaling": {"rope_type": "nope"}}, "broken_config"),
        (SIZES | {"model_type": "llama", "rope_scaling": "yarn"}, "broken_config"),
        (SIZES | {"model_type": "mistral", "sliding_window": 0}, "broken_config"),
        (SIZES | {"model_type": "mistral", "sliding_window": 1}, "broken_config"),
        (SIZES | {"model_type": "mixtral", "num_local_experts": 2, "num_experts_per_tok": 4}, "broken_config"),
        (SIZES | {"model_type": "gemma3_text", "layer_types": ["full_attention"]}, "broken_config"),
        ({"model_type": "gemma3", "text_config": "x"}, "broken_config"),
        ({"model_type": "gpt2", "n_head": 0}, "broken_config"),
    ],
)
def test_a_config_that_makes_no_sizable_model_is_refused(tmp_path: Path, fields: object, code: str) -> None:
    assert refusal(folder(tmp_path, fields)).code == code


LLAMA = SIZES | {"model_type": "llama"}
PACKED = {"quant_method": "gptq", "bits": 4, "group_size": 128}


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        (LLAMA | {"num_attention_heads": 0}, "its num_attention_heads is 0"),
        (LLAMA | {"hidden_size": -4}, "its hidden_size is -4"),
        (LLAMA | {"num_hidden_layers": 0}, "its num_hidden_layers is 0"),
        ({"model_type": "gemma3", "text_config": {"vocab_size": 0}}, "its vocab_size is 0"),
        ({"model_type": "gemma3", "text_config": 3}, "text_config"),
        ({"model_type": "llava", "text_config": {"model_type": "nope"}}, "nope"),
        (LLAMA | {"quantization_config": "4 bits"}, "its quantization_config is not an object"),
        (LLAMA | {"quantization_config": PACKED | {"bits": 10**30}}, "not packed in"),
        (LLAMA | {"quantization_config": PACKED | {"group_size": 0}}, "make no group"),
        (LLAMA | {"quantization_config": {"load_in_4bit": True, "llm_int8_skip_modules": ["*("]}}, "repeat"),
        (LLAMA | {"quantization_config": {"quant_method": "fp8", "weight_block_size": [0, 0]}}, "weight_block_size"),
        (LLAMA | {"quantization_config": {"quant_method": "compressed-tensors", "config_groups": [1]}}, "list"),
    ],
)
def test_what_no_model_can_be_is_told_by_its_name_and_never_sized_as_0_bytes(
    tmp_path: Path, fields: object, says: str
) -> None:
    found = refusal(folder(tmp_path, fields))
    assert (found.code, says in found.message) == ("broken_config", True), found.message


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "5",
        '{"model_type": "llama", "hidden',
        '{"model_type": "llama", "a": ' + "[" * 5000 + "]" * 5000 + "}",
    ],
)
def test_what_is_no_json_object_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "config.json").write_text(text)
    assert refusal(ModelSpec(kind=ModelKind.FOLDER, name="mine", path=str(tmp_path))).code == "broken_config"


@pytest.mark.parametrize(
    "more", [{"text_config": None}, {"max_position_embeddings": 1}, {"pad_token_id": -1}, {"intermediate_size": 1}]
)
def test_an_odd_config_that_makes_a_model_is_sized(tmp_path: Path, more: dict[str, Any]) -> None:
    record = inspect_model_spec(
        folder(tmp_path, SIZES | {"model_type": "llama"} | more),
        dtypes=["bfloat16"],
        sequences=[1],
        tokens=[16],
        strategies=["default"],
    )
    assert record.parameters > 0
    assert record.layers[0].token_elements == 2 * 2 * 16


def test_a_missing_config_is_refused(tmp_path: Path) -> None:
    assert refusal(ModelSpec(kind=ModelKind.FOLDER, name="mine", path=str(tmp_path))).code == "no_config"


def test_a_native_class_is_used_though_code_comes_with_the_model(tmp_path: Path) -> None:
    fields = SIZES | {
        "model_type": "llama",
        "auto_map": {"AutoConfig": "evil.Config", "AutoModelForCausalLM": "evil.M"},
    }
    (tmp_path / "evil.py").write_text("raise SystemExit('ran the code that came with the model')")
    record = inspect_model_spec(
        folder(tmp_path, fields), dtypes=["bfloat16"], sequences=[1], tokens=[16], strategies=["default"]
    )
    assert record.architecture == "LlamaForCausalLM"


def test_an_unknown_strategy_or_precision_is_refused(tmp_path: Path) -> None:
    spec = folder(tmp_path, SIZES | {"model_type": "llama"})
    assert refusal(spec, strategies=["magic"]).code == "unknown_strategy"
    assert refusal(spec, dtypes=["int3"]).code == "unknown_dtype"


class Config:
    """A text config's attributes."""

    def __init__(self, **fields: int | None) -> None:
        self.__dict__.update(fields)


@pytest.mark.parametrize(
    ("attributes", "fields", "tokens"),
    [
        ({"max_position_embeddings": 32768}, {}, 32768),
        ({"n_positions": 1024}, {}, 1024),
        ({}, {"seq_length": 2048}, 2048),
        ({}, {}, None),
        ({"max_position_embeddings": None}, {}, None),
        (
            {"max_position_embeddings": 32768},
            {"rope_scaling": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768}},
            131072,
        ),
        (
            {"max_position_embeddings": 131072},
            {"rope_scaling": {"rope_type": "llama3", "factor": 32.0, "original_max_position_embeddings": 8192}},
            131072,
        ),
        (
            {"max_position_embeddings": 131072},
            {"text_config": {"rope_scaling": {"rope_type": "linear", "factor": 8.0}}},
            131072,
        ),
    ],
)
def test_the_native_context_is_what_the_config_was_made_for(
    attributes: dict[str, int | None], fields: dict[str, Any], tokens: int | None
) -> None:
    assert native_context(Config(**attributes), fields) == tokens


def test_an_absurd_number_of_layers_is_refused_before_anything_is_built(tmp_path: Path) -> None:
    deep = folder(tmp_path, {"model_type": "llama", "num_hidden_layers": 1_000_000_000})
    assert refusal(deep).code == "broken_config"
    assert "1,000,000,000 layers" in refusal(deep).message


@pytest.mark.parametrize("named", ["no-such-organisation/kernel", "paged|sdpa", "eager", {"": "a/kernel"}])
def test_an_attention_that_the_config_names_is_not_fetched(tmp_path: Path, named: object) -> None:
    asked: dict[str, Any] = {"dtypes": ["bfloat16"], "sequences": [1], "tokens": [16], "strategies": ["default"]}
    plain = inspect_model_spec(folder(tmp_path, SIZES | {"model_type": "llama"}), **asked)
    fields = SIZES | {"model_type": "llama", "attn_implementation": named}
    assert inspect_model_spec(folder(tmp_path, fields), **asked).rungs == plain.rungs
