"""What the layers read on meta say of a cache, against real caches of the same tiny model."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from transformers import AutoModelForCausalLM, AutoModelForImageTextToText, DynamicCache, StaticCache
from transformers.cache_utils import Cache
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING

from jobs.measuring.inspect_strategies import strategy_refusals
from jobs.measuring.library_errors import LIBRARY_ERRORS
from jobs.measuring.meta_cache import layer_tensors, storage_bytes
from jobs.measuring.meta_model import build_config
from jobs.measuring.meta_subject import Subject
from jobs.measuring.meta_weights import parameters
from jobs.sizing.kv import kv_bytes, kv_prefill_bytes
from jobs.sizing.model_spec import ModelKind, ModelSpec
from jobs.sizing.record import InspectionRecord
from tests.measuring.tiny_configs import WINDOW
from tests.measuring.variants import EVERY, tiny_fields
from tests.sizing.records import record, strategy

POINTS = ((1, 5), (1, WINDOW - 1), (1, WINDOW), (1, WINDOW + 1), (2, WINDOW), (2, 40))
"""(sequences, tokens): below, at and beyond the window."""
CHUNK_TOKENS = 12
SLOTS = 40


@dataclass(frozen=True, kw_only=True)
class Variant:
    record: InspectionRecord
    said_parameters: int
    model: Any

    @property
    def text_config(self) -> Any:
        return self.model.config.get_text_config(decoder=True)


@pytest.fixture(scope="module", params=EVERY)
def variant(request: pytest.FixtureRequest) -> Iterator[Variant]:
    fields = tiny_fields(request.param)
    spec = ModelSpec(kind=ModelKind.ARCHITECTURE, name=request.param, config=fields)
    subject = Subject(spec, build_config(spec, fields), "sdpa")
    refusals = strategy_refusals(subject.text_config, subject.layers)
    torch.manual_seed(0)
    config = build_config(spec, fields)
    auto = AutoModelForCausalLM if type(config) in MODEL_FOR_CAUSAL_LM_MAPPING else AutoModelForImageTextToText
    yield Variant(
        record=record(*subject.layers, refusals=refusals),
        said_parameters=parameters(subject.model("bfloat16")),
        model=auto.from_config(config, dtype=torch.bfloat16).eval(),
    )


def feed(model: Any, cache: Cache, ids: torch.Tensor, seen: int) -> None:
    mask = torch.ones(ids.shape[0], seen + ids.shape[1], dtype=torch.long)
    inputs = model.prepare_inputs_for_generation(
        ids, cache=cache, attention_mask=mask, use_cache=True, is_first_iteration=seen == 0
    )
    with torch.no_grad():
        model(**inputs)


def held_bytes(cache: Cache) -> int:
    """Of every tensor; one that is another, once."""
    tensors = [tensor for layer in cache.layers for tensor in layer_tensors(layer).values()]
    return sum(
        {(t.untyped_storage()._cdata, t.storage_offset(), tuple(t.shape)): int(t.nbytes) for t in tensors}.values()
    )


def test_the_model_built_on_meta_has_as_many_parameters(variant: Variant) -> None:
    assert variant.said_parameters == parameters(variant.model)


@pytest.mark.parametrize(("sequences", "tokens"), POINTS)
def test_a_real_cache_holds_what_the_layers_say_after_the_prompt_and_after_a_step(
    variant: Variant, sequences: int, tokens: int
) -> None:
    at: dict[str, Any] = {"sequences": sequences, "dtype": "bfloat16", "strategy": strategy("default")}
    cache = DynamicCache(config=variant.text_config)
    ids = torch.randint(3, 128, (sequences, tokens))
    feed(variant.model, cache, ids[:, :-1], 0)
    assert sum(map(storage_bytes, cache.layers)) == kv_prefill_bytes(variant.record, tokens=tokens - 1, **at)
    feed(variant.model, cache, ids[:, -1:], tokens - 1)
    assert held_bytes(cache) == kv_bytes(variant.record, tokens=tokens, **at)


def test_after_a_chunked_prefill_it_holds_the_window_and_the_last_chunk(variant: Variant) -> None:
    cache = DynamicCache(config=variant.text_config)
    ids = torch.randint(3, 128, (1, SLOTS))
    for start in range(0, SLOTS, CHUNK_TOKENS):
        feed(variant.model, cache, ids[:, start : start + CHUNK_TOKENS], start)
    said = kv_prefill_bytes(
        variant.record, tokens=SLOTS, sequences=1, dtype="bfloat16", strategy=strategy(f"chunked:{CHUNK_TOKENS}")
    )
    assert sum(map(storage_bytes, cache.layers)) == said


def test_a_static_cache_is_whole_from_the_start(variant: Variant) -> None:
    if "static" in variant.record.refusals:
        with pytest.raises(LIBRARY_ERRORS):
            StaticCache(config=variant.text_config, max_cache_len=SLOTS)
        return
    cache = StaticCache(config=variant.text_config, max_cache_len=SLOTS)
    feed(variant.model, cache, torch.randint(3, 128, (2, 5)), 0)
    at: dict[str, Any] = {"tokens": SLOTS, "sequences": 2, "dtype": "bfloat16", "strategy": strategy("static")}
    assert held_bytes(cache) == kv_prefill_bytes(variant.record, **at) == kv_bytes(variant.record, **at)
