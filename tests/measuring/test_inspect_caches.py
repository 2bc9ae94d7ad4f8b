"""What an inspection says of a cache, against a real cache of the same tiny model after a real prefill and decode."""

from typing import Any

import pytest
import torch
from transformers import AutoConfig, AutoModelForCausalLM, DynamicCache

from jobs.measuring.inspect import inspect_model_spec
from jobs.measuring.meta_cache import layer_tensors, storage_bytes
from jobs.sizing.kv import kv_bytes, kv_prefill_bytes
from jobs.sizing.model_spec import ModelKind, ModelSpec
from jobs.sizing.record import InspectionRecord
from jobs.sizing.strategy import BASELINE
from tests.measuring.tiny_configs import TINY, WINDOW

POINTS = ((1, 5), (1, WINDOW - 1), (1, WINDOW), (1, WINDOW + 1), (2, WINDOW), (2, 40))
"""(sequences, tokens): below, at and beyond the window."""


def inspected(model_type: str, **more: Any) -> InspectionRecord:
    spec = ModelSpec(kind=ModelKind.ARCHITECTURE, name=model_type, config=TINY[model_type] | {"model_type": model_type})
    asked: dict[str, Any] = {"dtypes": ["bfloat16"], "sequences": [1], "tokens": [40], "strategies": ["default"]}
    return inspect_model_spec(spec, **asked | more)


def real_model(model_type: str) -> Any:
    torch.manual_seed(0)
    config = AutoConfig.for_model(model_type, **TINY[model_type])
    return AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16).eval()


def feed(model: Any, cache: DynamicCache, ids: torch.Tensor, seen: int) -> None:
    mask = torch.ones(ids.shape[0], seen + ids.shape[1], dtype=torch.long)
    inputs = model.prepare_inputs_for_generation(
        ids, cache=cache, attention_mask=mask, use_cache=True, is_first_iteration=seen == 0
    )
    with torch.no_grad():
        model(**inputs)


@pytest.mark.parametrize("model_type", TINY)
def test_a_real_cache_holds_what_the_inspection_says(model_type: str) -> None:
    record, model = inspected(model_type), real_model(model_type)
    assert record.parameters == sum(parameter.numel() for parameter in model.parameters())
    for sequences, tokens in POINTS:
        at: dict[str, Any] = {"sequences": sequences, "dtype": "bfloat16", "strategy": BASELINE}
        cache = DynamicCache(config=model.config)
        ids = torch.randint(3, 128, (sequences, tokens))
        feed(model, cache, ids[:, :-1], 0)
        alive = sum(storage_bytes(layer) for layer in cache.layers)
        assert alive == kv_prefill_bytes(record, tokens=tokens - 1, **at), (sequences, tokens)
        feed(model, cache, ids[:, -1:], tokens - 1)
        held = sum(tensor.nbytes for layer in cache.layers for tensor in layer_tensors(layer).values())
        assert held == kv_bytes(record, tokens=tokens, **at), (sequences, tokens)


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
