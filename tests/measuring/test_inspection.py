"""A model that stays in the process is built and passed once, however many records are asked of it."""

from typing import Any

import pytest

from jobs.measuring import inspect
from jobs.measuring.inspect import Inspection
from jobs.sizing.model_spec import ModelKind, ModelSpec
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
