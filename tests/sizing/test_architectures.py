"""The built-in architectures, against the models that transformers builds from them."""

import pytest
import torch

from jobs.measuring.meta_model import build_config, build_model, config_fields
from jobs.measuring.meta_weights import parameters
from jobs.measuring.native_context import native_context
from jobs.sizing import architectures
from jobs.sizing.model_spec import ModelKind, ModelSpec
from jobs.sizing.refusal import Refusal

PUBLISHED = {
    "SmolLM2-135M": 134_515_008,
    "Qwen2.5-0.5B": 494_032_768,
    "Qwen2.5-7B": 7_615_616_512,
    "Qwen3-0.6B": 596_049_920,
    "Llama-3.2-1B": 1_235_814_400,
    "Llama-3.2-3B": 3_212_749_824,
    "Llama-3.1-8B": 8_030_261_248,
    "Llama-3.1-70B": 70_553_706_496,
    "Gemma-3-270m": 268_098_176,
    "Gemma-3-1b": 999_885_952,
    "gpt2": 124_439_808,
    "Phi-3-mini-4k": 3_821_079_552,
    "Mistral-7B-v0.1": 7_241_732_096,
    "Mixtral-8x7B-v0.1": 46_702_792_704,
    "DeepSeek-V2-Lite": 15_748_993_024,
    "gpt-oss-20b": 20_914_757_184,
    "granite-4.0-h-tiny": 6_939_037_248,
    "bloom-7b1": 7_069_016_064,
}
"""Parameters of the published weights, tied ones once."""


def test_every_architecture_s_parameters_are_known_from_its_publisher() -> None:
    assert set(architectures.names()) == set(PUBLISHED)


@pytest.mark.parametrize("name", architectures.names())
def test_an_architecture_is_built_with_exactly_the_published_parameters(name: str) -> None:
    spec = ModelSpec(kind=ModelKind.ARCHITECTURE, name=name, config=architectures.config(name))
    fields = config_fields(spec)
    model = build_model(spec, build_config(spec, fields), dtype=torch.bfloat16, attention="sdpa")
    known = architectures.get(name)
    assert parameters(model) == known.parameters == PUBLISHED[name]
    assert native_context(model.config.get_text_config(decoder=True), fields) == known.native_context


def test_a_name_is_found_whatever_its_case_and_an_unknown_one_is_refused() -> None:
    assert architectures.get("GPT2").name == "gpt2"
    assert architectures.get("gemma-3-270M").note
    with pytest.raises(Refusal) as refused:
        architectures.get("gpt5")
    assert (refused.value.code, "SmolLM2-135M" in refused.value.hint) == ("unknown_model", True)


def test_a_config_handed_out_is_the_caller_s_own() -> None:
    architectures.config("Llama-3.2-1B")["rope_scaling"]["factor"] = 1
    assert architectures.config("Llama-3.2-1B")["rope_scaling"]["factor"] == 32.0
