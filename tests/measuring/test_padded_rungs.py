"""Rungs of batches whose sequences are of unequal lengths, and the lengths that rungs are taken at."""

import pytest

from jobs.measuring.inspect import inspect_model_spec
from jobs.measuring.meta_ladder import ladder
from jobs.sizing.model_spec import ModelKind, ModelSpec
from jobs.sizing.record import InspectionRecord, LayerGroup, LayerKind, Phase
from jobs.sizing.strategy import Strategy
from jobs.sizing.working import working_bytes
from tests.measuring.tiny_configs import TINY

TOKENS = 256
MASK_BYTES = TOKENS * TOKENS
"""One sequence's mask of yes and no, alive throughout the forward."""


def inspected(model_type: str, attention: str, *strategies: str) -> InspectionRecord:
    spec = ModelSpec(
        kind=ModelKind.ARCHITECTURE, name=model_type, config={"model_type": model_type, **TINY[model_type]}
    )
    return inspect_model_spec(
        spec,
        dtypes=["bfloat16"],
        sequences=[1, 3],
        tokens=[TOKENS],
        strategies=strategies,
        attention=attention,
        padded=[False, True],
    )


def prefill_bytes(record: InspectionRecord, attention: str, strategy: str, sequences: int, *, padded: bool) -> int:
    return working_bytes(
        record,
        phase=Phase.PREFILL,
        tokens=TOKENS,
        sequences=sequences,
        dtype="bfloat16",
        strategy=Strategy.parse(strategy),
        attention=attention,
        padded=padded,
    )


def test_padding_costs_a_mask_for_each_sequence_where_there_was_none() -> None:
    record = inspected("llama", "sdpa", "default", "static")
    for sequences in (1, 3):
        for strategy in ("default", "static"):
            more = prefill_bytes(record, "sdpa", strategy, sequences, padded=True) - prefill_bytes(
                record, "sdpa", strategy, sequences, padded=False
            )
            assert more >= sequences * MASK_BYTES, (strategy, sequences)


@pytest.mark.parametrize("model_type", ["gemma3_text", "granitemoehybrid"])
def test_padded_batches_of_every_kind_of_layer_are_sized_with_eager_attention_too(model_type: str) -> None:
    record = inspected(model_type, "eager", "default")
    needs = [prefill_bytes(record, "eager", "default", 3, padded=padded) for padded in (False, True)]
    assert 0 < needs[0] <= needs[1]


def test_chunked_prefills_are_sized_at_whole_chunks_and_past_each_window() -> None:
    windowed = LayerGroup(kind=LayerKind.WINDOWED, count=1, heads=1, key_width=8, value_width=8, window_tokens=2047)
    found = ladder([8000], [windowed], Strategy.parse("chunked:512"))
    assert [tokens // 512 for tokens in found] == [1, 2, 3, 4, 5, 6, 8, 16]
    assert all(tokens % 512 == 0 for tokens in found)
