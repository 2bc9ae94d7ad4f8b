"""A model that stays in the process is built and passed once, however many records are asked of it."""

from dataclasses import replace
from typing import Any

import pytest

from jobs.measuring import inspect, meta_peaks
from jobs.measuring.inspect import Inspection
from jobs.sizing.model_spec import ModelKind, ModelSpec
from jobs.sizing.refusal import Refusal
from tests.measuring.tiny_configs import SIZES

SPEC = ModelSpec(kind=ModelKind.ARCHITECTURE, name="tiny", config=SIZES | {"model_type": "llama"})
ASKED: dict[str, Any] = {"dtypes": ["bfloat16"], "sequences": [1], "tokens": [16]}


def test_a_second_record_repeats_no_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    passed: list[str] = []
    plain = inspect.Subject.peaks

    def noted(self: Any, record: Any, strategy: Any, *rest: Any) -> Any:
        passed.append(str(strategy))
        return plain(self, record, strategy, *rest)

    monkeypatch.setattr(inspect.Subject, "peaks", noted)
    inspection = Inspection(SPEC, attention="sdpa", tell=lambda text: None)
    first = inspection.record(strategies=["default"], **ASKED)
    second = inspection.record(strategies=["static"], **ASKED)
    assert passed == ["default", "static"]
    assert set(first.rungs) < set(second.rungs)
    assert first.layers == second.layers


def test_another_model_or_another_attention_is_another_inspection() -> None:
    inspection = Inspection(SPEC, attention="sdpa", tell=lambda text: None)
    other = ModelSpec(kind=ModelKind.ARCHITECTURE, name="tiny", config={**SIZES, "model_type": "qwen3"})
    assert inspection.is_of(SPEC, "sdpa")
    assert not inspection.is_of(SPEC, "eager")
    assert not inspection.is_of(other, "sdpa")


def test_a_chunked_ladder_is_as_long_as_was_asked_though_each_pass_has_many_chunks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(meta_peaks, "MOST_OPERATIONS", 1)
    monkeypatch.setattr(meta_peaks, "LOOPING", 1)
    record = Inspection(SPEC, attention="sdpa", tell=lambda text: None).record(
        strategies=["chunked:8"], **ASKED | {"tokens": [256]}
    )
    chunked = [rung.tokens for rung in record.rungs if rung.strategy == "chunked:8"]
    assert max(chunked) == 256


@pytest.mark.parametrize("deep", ["text_config", "made_up"])
def test_a_config_nested_too_deep_is_broken(deep: str) -> None:
    nested: dict[str, Any] = {}
    for _ in range(900):
        nested = {deep: nested}
    with pytest.raises(Refusal) as refused:
        Inspection(
            replace(SPEC, config=SIZES | {"model_type": "llama"} | nested), attention="sdpa", tell=lambda text: None
        )
    assert refused.value.code == "broken_config"


def test_layers_are_counted_under_whatever_name() -> None:
    config = {"model_type": "bart", "decoder_layers": 50_000}
    with pytest.raises(Refusal, match="50,000 layers"):
        Inspection(replace(SPEC, config=config), attention="sdpa", tell=lambda text: None)
