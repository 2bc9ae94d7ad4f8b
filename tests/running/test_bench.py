from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from jobs.procedure.measurement import Ask, Cancelled, Measurement, Outcome
from jobs.procedure.own_prompts import read_prompts
from jobs.procedure.quality import Quality, QualityAsk, QualityOutcome
from jobs.procedure.question import Question
from jobs.running.bench import ProcessBench
from jobs.running.process import MeasuringProcess
from jobs.sizing.model_spec import ModelKind, ModelSpec
from jobs.sizing.refusal import Refusal
from jobs.sizing.strategy import BASELINE, Strategy

SPEC = ModelSpec(kind=ModelKind.ARCHITECTURE, name="fake", config={})
QUESTION = Question(model="fake", prompt_tokens=64, typical_prompt_tokens=32, answer_tokens=8)
ASK = Ask(
    stage="baseline",
    strategy=BASELINE,
    prompt_tokens=64,
    answer_tokens=8,
    sequences=1,
    capacity_bytes=10,
)
ABOVE = replace(ASK, answer_tokens=20)  # the peak of the fake process is its answer's tokens

Start = Callable[..., MeasuringProcess]
Bench = Callable[..., Any]


@pytest.fixture
def bench(start: Start) -> Bench:
    @contextmanager
    def opened(question: Question = QUESTION, **how: Any) -> Iterator[ProcessBench]:
        how = {"cancelled": lambda: False, "tell": lambda text: None} | how
        with ProcessBench(spec=SPEC, question=question, start=start, **how) as one:
            yield one

    return opened


def measured(bench: Bench, ask: Ask, **how: Any) -> Measurement:
    """The measurement, once the bench has shown that it goes on after it."""
    with bench(**how) as one:
        one.load()
        found: Measurement = one.measure(ask)
        assert one.measure(ASK).outcome is Outcome.OK
        return found


def test_the_model_is_loaded_once_for_many_measurements(bench: Bench) -> None:
    pids: list[int] = []
    with bench(measuring_pid=pids.append) as one:
        assert one.load().weights_bytes == 100
        assert one.measure(ASK).settings["pid"] == one.measure(ASK).settings["pid"] == pids[0]
    assert len(pids) == 1


@pytest.mark.parametrize("fault", ["segfault under the limit", "abort under the limit"])
def test_a_crash_under_the_limit_is_out_of_memory_if_the_peak_is_above(bench: Bench, fault: str) -> None:
    found = measured(bench, replace(ABOVE, stage=fault))
    assert found.outcome is Outcome.OUT_OF_MEMORY
    assert found.peak_bytes == 20
    assert found.error is not None
    assert "crashed" in found.error["message"]


def test_a_crash_under_the_limit_is_a_failure_if_the_peak_is_within(bench: Bench) -> None:
    found = measured(bench, replace(ASK, stage="segfault under the limit"))
    assert found.outcome is Outcome.FAILED
    assert found.error is not None
    assert found.error["code"] == "crashed"


@pytest.mark.parametrize(("fault", "code"), [("segfault", "crashed"), ("exit", "crashed"), ("killed", "killed")])
def test_a_death_is_a_failure_with_its_reason(bench: Bench, fault: str, code: str) -> None:
    found = measured(bench, replace(ASK, stage=fault))
    assert found.outcome is Outcome.FAILED
    assert found.error is not None
    assert found.error["code"] == code


@pytest.mark.parametrize(
    ("fault", "code"), [("segfault", "load_failed"), ("exit", "load_failed"), ("killed", "killed")]
)
def test_a_death_while_loading_says_whether_it_came_from_outside(bench: Bench, fault: str, code: str) -> None:
    with bench(replace(QUESTION, dtype=fault)) as one, pytest.raises(Refusal) as refused:
        one.load()
    assert refused.value.code == code
    assert refused.value.hint


def test_a_hang_is_a_failure_and_the_run_goes_on(bench: Bench) -> None:
    with bench(measure_patience_s=1.0) as one:
        one.load()
        found = one.measure(replace(ASK, stage="hang"))
        assert found.outcome is Outcome.FAILED
        assert found.error["code"] == "hung"
        assert one.measure(ASK).outcome is Outcome.OK


def test_a_process_that_asks_for_a_restart_gets_one(bench: Bench) -> None:
    with bench() as one:
        one.load()
        first = one.measure(replace(ASK, stage="restart"))
        second = one.measure(ASK)
    assert first.outcome is second.outcome is Outcome.OK
    assert first.settings["pid"] != second.settings["pid"]


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        ("refused", "memory was refused at the point before"),
        ("device assert", "stopped on an assertion"),
        ("segfault", "crashed (signal SIGSEGV)"),
        ("exit", "crashed (exit code 3)"),
        ("killed", "killed from outside (signal SIGKILL)"),
        ("hang", "hung"),
    ],
)
def test_a_point_says_why_its_process_is_a_fresh_one_and_the_next_does_not(bench: Bench, fault: str, why: str) -> None:
    with bench(measure_patience_s=1.0) as one:
        one.load()
        assert one.measure(ASK).fresh_process is None
        one.measure(replace(ASK, stage=fault))
        assert why in one.measure(ASK).fresh_process
        assert one.measure(ASK).fresh_process is None


def test_a_crash_that_was_measured_again_says_so_on_its_own_row(bench: Bench) -> None:
    found = measured(bench, replace(ABOVE, stage="segfault under the limit"))
    assert found.fresh_process == "the process before it crashed (signal SIGSEGV)"


def test_a_leak_is_told_with_its_size_and_the_point_is_measured_in_a_fresh_process(bench: Bench) -> None:
    with bench() as one:
        one.load()
        first = one.measure(ASK)
        found = one.measure(replace(ASK, stage="leak"))
    assert (found.outcome, found.leaked_bytes) == (Outcome.OK, 50 * 2**20)
    assert found.fresh_process == "50 MiB were still held after the points before"
    assert found.settings["pid"] != first.settings["pid"]


def test_a_fresh_process_in_the_same_environment_taints_nothing(bench: Bench) -> None:
    with bench() as one:
        one.load()
        one.measure(replace(ASK, stage="restart"))
        assert one.measure(ASK).tainted is None


def test_a_change_of_environment_during_the_run_is_said_on_every_point_after_it(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    with bench() as one:
        one.load()
        one.measure(replace(ASK, stage="restart"))
        monkeypatch.setenv("OMP_NUM_THREADS", "1")
        found = [one.measure(ASK), one.measure(ASK)]
    assert {point.tainted for point in found} == {"The environment changed during the run: threads 2, now 1."}


def test_a_point_that_takes_too_long_fails_for_want_of_time_and_the_run_goes_on(bench: Bench) -> None:
    with bench(point_most_s=1.0) as one:
        one.load()
        found = one.measure(replace(ASK, stage="hang"))
        assert (found.outcome, found.error["code"]) == (Outcome.FAILED, "point_time")
        assert one.measure(ASK).outcome is Outcome.OK


def test_the_teams_prompts_are_given_to_every_new_process(bench: Bench) -> None:
    prompts = read_prompts(b"long " * 200_000 + "\nzweite ü".encode())
    with bench(prompts=prompts) as one:
        one.load()
        first = one.measure(replace(ASK, stage="restart"))
        second = one.measure(ASK)
    assert first.settings["pid"] != second.settings["pid"]
    assert first.settings["prompts"] == second.settings["prompts"] == prompts.for_load()
    with bench() as one:
        one.load()
        assert one.measure(ASK).settings["prompts"] is None


def test_beyond_the_time_cap_nothing_runs(bench: Bench) -> None:
    with bench(replace(QUESTION, time_cap_s=0.0)) as one:
        found = one.measure(ASK)
    assert found.outcome is Outcome.SKIPPED
    assert found.error["code"] == "time_cap"


def test_the_time_cap_ends_a_measurement(bench: Bench) -> None:
    with bench(replace(QUESTION, time_cap_s=3.0)) as one:
        one.load()
        found = one.measure(replace(ASK, stage="hang"))
    assert (found.outcome, found.error["code"]) == (Outcome.SKIPPED, "time_cap")


def test_a_cancel_ends_the_measurement_and_its_process(bench: Bench) -> None:
    asked = iter(range(100))
    with bench(cancelled=lambda: next(asked) > 3) as one:
        one.load()
        with pytest.raises(Cancelled):
            one.measure(replace(ASK, stage="hang"))


SCORE = QualityAsk(strategy=Strategy.parse("quantized:hqq:4"), context_tokens=640)


def test_a_quality_comes_back_as_it_was_told(bench: Bench) -> None:
    with bench() as one:
        one.load()
        assert one.quality(SCORE) == Quality(
            strategy="quantized:hqq:4", context=640, outcome=QualityOutcome.OK, mean_kl=0.5
        )


@pytest.mark.parametrize(("seed", "sentence"), [(1, "SIGSEGV"), (2, "said nothing")])
def test_a_crash_or_hang_while_scoring_is_a_quality_and_the_run_goes_on(bench: Bench, seed: int, sentence: str) -> None:
    with bench(measure_patience_s=1.0) as one:
        one.load()
        quality = one.quality(replace(SCORE, seed=seed))
        assert (quality.outcome, quality.mean_kl) == (QualityOutcome.FAILED, None)
        assert sentence in quality.message
        after = one.measure(ASK)
    assert after.outcome is Outcome.OK
    assert "ended while a quality was scored" in after.fresh_process


def test_a_point_after_a_scoring_that_spent_the_process_says_so(bench: Bench) -> None:
    with bench() as one:
        one.load()
        one.quality(replace(SCORE, seed=3))
        assert "scoring a quality" in one.measure(ASK).fresh_process


def test_after_the_time_cap_nothing_is_scored(bench: Bench) -> None:
    with bench(replace(QUESTION, time_cap_s=0.0)) as one:
        quality = one.quality(SCORE)
        assert (quality.outcome, quality.message) == (QualityOutcome.NOT_MEASURED, "the run's time cap came first")


def test_cancelling_while_scoring_goes_through(bench: Bench) -> None:
    asked: list[bool] = []
    with bench(cancelled=lambda: bool(asked)) as one:
        one.load()
        asked.append(True)
        with pytest.raises(Cancelled):
            one.quality(replace(SCORE, seed=2))
