"""Which caches an inspection says that a model takes, and what it records of them."""

from typing import Any

import pytest

from jobs.measuring.inspect import inspect_model_spec
from jobs.sizing.model_spec import ModelKind, ModelSpec
from jobs.sizing.record import InspectionRecord
from tests.measuring.tiny_configs import TINY


def inspected(model_type: str, **more: Any) -> InspectionRecord:
    spec = ModelSpec(kind=ModelKind.ARCHITECTURE, name=model_type, config=TINY[model_type] | {"model_type": model_type})
    asked: dict[str, Any] = {"dtypes": ["bfloat16"], "sequences": [1], "tokens": [40], "strategies": ["default"]}
    return inspect_model_spec(spec, **asked | more)


@pytest.mark.parametrize("model_type", ["mistral", "gemma3_text", "gpt_oss", "qwen3_next", "granitemoehybrid", "lfm2"])
def test_a_quantized_cache_is_refused_where_not_all_layers_are_full_attention(model_type: str) -> None:
    record = inspected(model_type, strategies=["quantized:fp8"])
    assert "full attention" in record.refusals["quantized"]
    assert not [rung for rung in record.rungs if "quantized" in rung.strategy]


def test_an_offloaded_static_cache_is_refused_where_every_layer_has_a_window() -> None:
    assert "offloaded_static" in inspected("mistral").refusals
    assert "offloaded_static" not in inspected("gemma3_text").refusals


def test_a_full_attention_model_takes_every_strategy() -> None:
    names = ["static", "offloaded", "quantized:hqq:4", "quantized:quanto:4", "quantized:fp8", "chunked:8"]
    record = inspected("llama", strategies=names)
    assert record.refusals == {}
    assert {rung.strategy for rung in record.rungs} == {"default", *names} - {"offloaded"}


def test_rungs_cover_each_precision_and_number_of_sequences() -> None:
    record = inspected("llama", dtypes=["bfloat16", "float32"], sequences=[1, 3])
    assert {(rung.dtype, rung.sequences) for rung in record.rungs} == {
        (dtype, sequences) for dtype in ("bfloat16", "float32") for sequences in (1, 3)
    }
    assert record.weights_bytes["float32"] == 2 * record.weights_bytes["bfloat16"] == 4 * record.parameters
