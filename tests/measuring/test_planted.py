"""Faults in the real measuring process: each is told apart, and the run goes on after it."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from jobs.procedure.measurement import Ask, Measurement, Outcome
from jobs.procedure.question import Question
from jobs.running.bench import ProcessBench
from jobs.running.process import MeasuringProcess
from jobs.sizing.model_spec import ModelKind, ModelSpec
from jobs.sizing.strategy import BASELINE
from jobs.sizing.units import GIB, MIB
from tests.measuring.conftest import LLAMA
from tests.measuring.planted import LEAK_BYTES

PLANTED = "tests.measuring.planted"
SPEC = ModelSpec(kind=ModelKind.ARCHITECTURE, name="tiny", config=LLAMA, random_weights=True)
QUESTION = Question(
    model="tiny", prompt_tokens=64, typical_prompt_tokens=64, answer_tokens=4, dtype="float32", capacity_bytes=GIB
)
ASK = Ask(stage="baseline", strategy=BASELINE, prompt_tokens=64, answer_tokens=4, sequences=1, capacity_bytes=GIB)
SAME_MEMORY_BYTES = 2 * MIB


class Planted:
    def __init__(self) -> None:
        self.told: list[str] = []
        self.bench = ProcessBench(
            spec=SPEC,
            question=QUESTION,
            cancelled=lambda: False,
            tell=self.told.append,
            start=partial(MeasuringProcess, module=PLANTED),
            measure_patience_s=8.0,
        )

    def measure(self, fault: str = "baseline", **changes: Any) -> Measurement:
        return self.bench.measure(replace(ASK, stage=fault, **changes))

    def code(self, fault: str) -> tuple[Outcome, str | None]:
        found = self.measure(fault)
        return found.outcome, found.error and found.error["code"]


@pytest.fixture(scope="module")
def planted() -> Iterator[Planted]:
    one = Planted()
    with one.bench as bench:
        bench.load()
        yield one


@pytest.mark.parametrize(
    "fault",
    [
        "quanto shift",
        "quantized windows",
        "static too short",
        "offloaded hybrid",
        "offloaded windows",
        "offloaded without CUDA",
        "shapes",
        "divisibility",
        "dtype",
        "too long",
    ],
)
def test_a_known_defect_is_the_strategys_own_failure_and_costs_no_process(planted: Planted, fault: str) -> None:
    assert planted.code(fault) == (Outcome.FAILED, "strategy_failed")
    after = planted.measure()
    assert (after.outcome, after.fresh_process) == (Outcome.OK, None)


def test_a_cache_that_the_model_keeps_is_dropped_and_told(planted: Planted) -> None:
    first = planted.measure()
    kept = planted.measure("kept cache")
    second = planted.measure()
    assert kept.outcome is Outcome.OK
    assert any("kept its cache" in message for message in planted.told)
    assert second.fresh_process is None
    assert second.leaked_bytes is not None
    assert second.leaked_bytes <= SAME_MEMORY_BYTES
    assert abs((second.peak_bytes or 0) - (first.peak_bytes or 0)) <= SAME_MEMORY_BYTES


def test_what_stays_held_is_noticed_told_and_left_behind(planted: Planted) -> None:
    before = planted.measure()
    assert planted.measure("leak").outcome is Outcome.OK
    after = planted.measure()
    assert after.outcome is Outcome.OK
    assert after.fresh_process is not None
    assert "still held" in after.fresh_process
    assert (after.leaked_bytes or 0) >= LEAK_BYTES
    assert abs((after.peak_bytes or 0) - (before.peak_bytes or 0)) <= SAME_MEMORY_BYTES
    assert (planted.measure().leaked_bytes or 0) <= SAME_MEMORY_BYTES


def test_a_device_side_assert_a_hang_and_a_crash_are_told_apart_and_survived(planted: Planted) -> None:
    """One after another, so that each fault's fresh process is where the next one is planted."""
    assert planted.code("device assert") == (Outcome.FAILED, "device_assert")
    planted.bench._measure_patience_s = 3.0
    hung = planted.measure("hang")
    assert hung.error is not None
    assert (hung.outcome, hung.error["code"]) == (Outcome.FAILED, "hung")
    assert "assertion" in (hung.fresh_process or "")
    planted.bench._measure_patience_s = 20.0
    crashed = planted.measure("crash")
    assert crashed.error is not None
    assert (crashed.outcome, crashed.error["code"]) == (Outcome.FAILED, "crashed")
    assert "SIGSEGV" in crashed.error["message"]
    assert "SIGSEGV" in (crashed.fresh_process or "")
    after = planted.measure()
    assert (after.outcome, after.fresh_process, after.tainted) == (Outcome.OK, None, None)
