from dataclasses import replace
from typing import Any

import pytest

from jobs.procedure.freshness import Basis
from jobs.procedure.measurement import Measurement
from jobs.procedure.noise import Scatter
from jobs.procedure.question import Question
from jobs.procedure.recheck import Found, Recheck, compared
from jobs.procedure.recheck_rows import Figure, Row
from jobs.procedure.recheck_text import recheck_text
from jobs.sizing.strategy import Strategy
from jobs.sizing.units import MIB
from tests.procedure.worlds import STRATEGIES, World, answered, brisk, question, record, strategies

ASKED = question(capacity_bytes=285 * MIB, strategies=strategies("quantized:hqq:8", "quantized:hqq:4"))


def found(
    asked: Question = ASKED, versions: dict[str, str] | None = None, *, on_cpu: bool = False, **world: Any
) -> Found:
    told = answered(World(asked=asked, record=record(), **world))
    rows = [row for name in (*STRATEGIES, "quantized:hqq:2") for row in told.measured(name)]
    return Found(
        basis=Basis(question=asked.as_json(), versions=versions or {"transformers": "5.23.0"}, device_name="a CPU"),
        on_cpu=on_cpu,
        stages=told.stages,
        measurements=[Measurement.from_json(row) for row in rows],
    )


def heavier(by_bytes: int) -> Any:
    return lambda strategy, prompt, estimated: estimated.peak_bytes + by_bytes


def slower(times: float) -> Any:
    def pace(strategy: Strategy, prompt: int) -> tuple[float, float]:
        ttft_s, speed = brisk(strategy, prompt)
        return ttft_s * times, speed / times

    return pace


def row(told: Recheck, figure: Figure, strategy: str = "") -> Row:
    return next(one for one in told.rows if one.figure is figure and one.strategy in (strategy, ""))


BEFORE = found()


def test_the_same_again_is_no_difference() -> None:
    told = compared(BEFORE, found())
    assert recheck_text(told) == "No difference beyond noise."
    assert not told.beyond and told.limits_compared and told.quiet > 0
    assert {one.figure for one in told.rows} == {*Figure} - {Figure.QUALITY}


def test_readings_that_scatter_are_no_difference() -> None:
    told = compared(found(question()), found(question(), truth=heavier(MIB), pace=slower(1.08)))
    assert recheck_text(told) == "No difference beyond noise."
    context, peak = row(told, Figure.CONTEXT), row(told, Figure.PEAK, "default")
    assert 0 < context.before - context.now <= (context.noise or 0) == 64
    assert peak.now - peak.before == MIB and peak.noise == 2 * MIB


def test_a_limit_that_moved_by_more_than_a_step_is_told_with_what_changed() -> None:
    after = found(question(), versions={"transformers": "5.24.0"}, truth=heavier(-5 * MIB))
    told = compared(found(question()), after)
    context = row(told, Figure.CONTEXT)
    assert context.beyond and row(told, Figure.LIMITED_BY).beyond is False
    assert recheck_text(told) == (
        f"The max context rose from {context.before} to {context.now} tokens after transformers 5.23.0 → 5.24.0."
    )


def test_without_a_known_cause_a_difference_says_so() -> None:
    text = recheck_text(compared(BEFORE, found(truth=heavier(6 * MIB))))
    assert text.endswith("although nothing that it rests on is known to have changed.")


def test_a_workload_that_fits_no_more_is_a_difference_whatever_the_limit() -> None:
    asked = question(capacity_bytes=600 * MIB)
    before, after = found(asked), found(asked, truth=heavier(320 * MIB))
    text = recheck_text(compared(before, after))
    assert text.startswith("The workload fits no longer: the max context fell from 1,056 to ")


def test_nothing_that_fits_any_more_is_told() -> None:
    asked = question(capacity_bytes=400 * MIB)
    before, after = found(asked), found(asked, truth=heavier(200 * MIB))
    assert after.limit["context"] is None
    assert recheck_text(compared(before, after)).startswith(
        "The workload fits no longer: nothing fits any more, where 1,056 tokens did"
    )
    assert recheck_text(compared(after, before)).startswith(
        "The workload fits now: the max context is 1,056 tokens, where nothing fitted before"
    )


def test_two_strategies_that_do_as_well_are_one_answer() -> None:
    def level(strategy: Strategy, prompt: int) -> tuple[float, float]:
        """hqq 8 and 4 bits as fast as each other, but for a little luck."""
        return 0.5, 20.4 if strategy == lucky else 20.0

    found_by = []
    for lucky in strategies("quantized:hqq:8", "quantized:hqq:4"):  # noqa: B007
        found_by.append(found(pace=level))
    told = compared(*found_by)
    assert [one.strategy for one in found_by] == ["quantized:hqq:8", "quantized:hqq:4"]
    assert row(told, Figure.STRATEGY).beyond is False
    assert recheck_text(told) == "No difference beyond noise."


def test_a_limit_by_speed_is_known_no_better_than_the_speed() -> None:
    asked = question(min_decode_tokens_per_s=20.5, capacity_bytes=600 * MIB)
    told = compared(found(asked), found(asked, pace=slower(1.09)))
    context = row(told, Figure.CONTEXT)
    assert context.before - context.now > 64 and not context.beyond
    assert row(compared(found(asked), found(asked, pace=slower(1.3))), Figure.CONTEXT).beyond


def test_what_was_edited_is_named_and_its_limit_is_not_compared() -> None:
    longer = replace(ASKED, prompt_tokens=2048)
    told = compared(BEFORE, found(longer))
    assert not told.limits_compared
    assert {one.figure for one in told.rows} <= {Figure.PEAK, Figure.SPEED, Figure.TTFT}
    assert recheck_text(told) == (
        "The question was edited (longest prompt 1,024 tokens → 2,048 tokens), so its limit is not compared with the "
        "one before."
    )
    assert compared(BEFORE, found(replace(ASKED, sequences=2))).rows == ()


def test_a_limit_that_was_not_confirmed_may_be_the_same() -> None:
    alone = found(question())
    cut = found(question(), skip_after=3)
    assert (cut.limit["context"], cut.limit["first_failing_context"], cut.limit["confirmed"]) == (544, 1056, False)
    assert alone.limit["context"] == 736
    told = compared(alone, cut)
    assert row(told, Figure.CONTEXT).beyond is False


def test_a_limit_that_was_not_seen_is_not_compared() -> None:
    told = compared(BEFORE, found(skip_after=2))
    assert not told.limits_compared
    assert recheck_text(told).startswith("The limits are not compared: the measuring of one of them ended before")


def test_a_quality_differs_where_the_intervals_do_not_meet() -> None:
    real = {"random_weights": False}
    before = found(**real)
    for shift, beyond in ((0.015, False), (0.05, True)):
        after = found(kl=lambda strategy, context, by=shift: 0.06 + by, **real)
        told = compared(found(kl=lambda strategy, context: 0.06, **real), after)
        rows = [one for one in told.rows if one.figure is Figure.QUALITY]
        assert any(one.beyond for one in rows) is beyond, shift
    assert not any(one.beyond for one in compared(before, before).rows)


@pytest.mark.parametrize(("repeats", "part", "beyond"), [(1, 1.15, False), (3, 1.15, True), (3, 1.08, False)])
def test_a_single_pass_s_scatter_is_unknown_and_more_is_allowed(repeats: int, part: float, beyond: bool) -> None:
    def repeated(one: Found, times: float) -> Found:
        rows = [
            replace(point, repeats=repeats, decode_tokens_per_s=(point.decode_tokens_per_s or 0) / times)
            for point in one.measurements
        ]
        return replace(one, measurements=rows)

    told = compared(repeated(BEFORE, 1), repeated(BEFORE, part))
    assert row(told, Figure.SPEED, BEFORE.strategy).beyond is beyond


@pytest.mark.parametrize(
    ("repeats", "spread", "on_cpu", "because", "part"),
    [
        (1, None, True, Scatter.BUSY, 1.0),
        (9, 0.3, True, Scatter.BUSY, 1.0),
        (1, None, False, Scatter.ONCE, 0.2),
        (3, 0.05, False, None, 0.1),
        (3, 0.3, False, Scatter.REPEATS, 0.3),
        (9, 1.4, True, Scatter.REPEATS, 1.4),
    ],
)
def test_noise_of_a_speed_says_why_it_is_so_much(
    repeats: int, spread: float | None, on_cpu: bool, because: Scatter | None, part: float
) -> None:
    fields: dict[str, Any] = {"repeats": repeats, "spread": spread, "ttft_spread": spread}
    rows = [replace(point, **fields) for point in BEFORE.measurements]
    told = compared(*[replace(BEFORE, measurements=rows, on_cpu=on_cpu)] * 2)
    for figure in (Figure.SPEED, Figure.TTFT):
        found_row = row(told, figure, BEFORE.strategy)
        assert (found_row.because, found_row.noise) == (because, pytest.approx(part * found_row.before))
    assert row(told, Figure.PEAK, BEFORE.strategy).because is None


def test_a_cpu_is_as_fast_as_what_else_runs_lets_it_be() -> None:
    before, half = (found(on_cpu=True, pace=slower(times)) for times in (1, 1.9))
    assert recheck_text(compared(before, half)) == "No difference beyond noise."
    text = recheck_text(compared(before, found(on_cpu=True, pace=slower(3))))
    assert text.startswith("No difference beyond noise in limit, memory or quality. What else this CPU did may be why")
    heavy = recheck_text(compared(before, found(on_cpu=True, pace=slower(3), truth=heavier(3 * MIB))))
    assert heavy.startswith("The peak memory at 1,056 tokens")
    assert recheck_text(compared(found(), found(pace=slower(3)))).startswith("The answer speed at 1,056 tokens")
