"""Quality in the procedure: scored near the limit, bounded like memory, and never more than a recorded outcome."""

from dataclasses import replace
from typing import Any

import pytest

from jobs.procedure.quality import LEAST_CONTEXT_TOKENS, Quality, QualityAsk, QualityOutcome
from jobs.procedure.quality_text import figures_text
from jobs.sizing.strategy import Strategy
from jobs.sizing.units import GIB, MIB
from tests.procedure.worlds import Answered, World, answered, question, record, strategies

TRIED = strategies("static", "quantized:hqq:4", "quantized:quanto:2", "quantized:hqq:4+chunked:512")
SIZED = record()
RECORD = replace(
    SIZED,
    rungs=SIZED.rungs
    + tuple(replace(rung, strategy="quantized:quanto:2") for rung in SIZED.rungs if "quanto:4" in rung.strategy),
)


def world(*, max_kl: float | None = 0.2, random_weights: bool = False, **changes: Any) -> World:
    """The normal cache ends below the workload's 1,056 tokens; quantized ones hold it."""
    asked = question(strategies=TRIED, max_kl=max_kl, capacity_bytes=289 * MIB)
    shape = {name: changes.pop(name) for name in ("asked",) if name in changes}
    return World(**{"asked": asked, "record": RECORD, "random_weights": random_weights} | shape | changes)


@pytest.fixture(scope="module")
def bounded() -> tuple[World, Answered]:
    one = world()
    return one, answered(one)


def test_every_quantized_strategy_is_scored_and_no_other(bounded: tuple[World, Answered]) -> None:
    one, _ = bounded
    assert {str(ask.strategy) for ask in one.scored} == {
        "quantized:hqq:4",
        "quantized:quanto:2",
        "quantized:hqq:4+chunked:512",
    }


def test_it_is_scored_at_the_longest_acceptable_context(bounded: tuple[World, Answered]) -> None:
    one, run = bounded
    first = next(ask for ask in one.scored if str(ask.strategy) == "quantized:hqq:4")
    assert (first.context_tokens, first.scored_tokens) == (1_056, 256)
    quality = run.change("quantized:hqq:4")["quality"]
    assert (quality["mean_kl"], quality["context"], quality["scored_tokens"]) == (0.06, 1_056, 256)
    assert "mean KL 0.060 (0.050 to 0.070) over 256 tokens; same top token 90 %. The bound is 0.2: kept." in run.logs


def test_a_quality_within_the_bound_on_real_weights_is_no_longer_provisional(bounded: tuple[World, Answered]) -> None:
    _, run = bounded
    assert run.limit["strategy"].startswith("quantized:hqq:4")
    assert (run.limit["fits_workload"], run.limit["provisional"]) == (True, False)


def test_above_the_bound_no_context_is_promised(bounded: tuple[World, Answered]) -> None:
    """The short context holds too few tokens to be scored, so nothing says that it is better there."""
    one, run = bounded
    found = run.limit["by_strategy"]["quantized:quanto:2"]
    assert (found["context"], found["limited_by"], found["fits_workload"]) == (None, "quality", False)
    assert "mean KL 2.50 (2.49 to 2.51) over 256 tokens" in found["reason"]
    assert "the bound is 0.2" in found["reason"]
    assert found["first_failing_context"] == 1_056
    assert len([ask for ask in one.scored if ask.strategy.bits == 2]) == 1


def test_nothing_more_is_measured_of_a_strategy_above_the_bound(bounded: tuple[World, Answered]) -> None:
    _, run = bounded
    assert not [row for row in run.measured("quantized:quanto:2") if row["stage"] == "limit"]


def test_where_the_short_context_is_within_the_bound_the_limit_stands_there() -> None:
    asked = question(
        strategies=TRIED, max_kl=0.2, prompt_tokens=4_096, typical_prompt_tokens=1_024, capacity_bytes=360 * MIB
    )
    one = world(asked=asked, kl=lambda strategy, context: 0.1 if context < 1_000 else 0.3)
    found = answered(one).limit["by_strategy"]["quantized:hqq:4"]
    assert (found["context"], found["limited_by"], found["confirmed"]) == (544, "quality", False)
    assert found["provisional"] is False


def test_without_a_bound_quality_is_told_and_limits_nothing() -> None:
    run = answered(world(max_kl=None))
    assert run.limit["by_strategy"]["quantized:quanto:2"]["context"] == 1_056
    assert run.change("quantized:quanto:2")["quality"]["mean_kl"] == 2.5


def test_random_weights_are_not_scored_and_stay_provisional() -> None:
    one = world(random_weights=True)
    run = answered(one)
    assert one.scored == []
    assert run.change("quantized:hqq:4")["quality"]["message"] == "random weights"
    assert (run.limit["fits_workload"], run.limit["provisional"]) == (True, True)
    assert run.limit["by_strategy"]["quantized:quanto:2"]["context"] == 1_056


def test_an_interval_that_holds_the_bound_is_said() -> None:
    run = answered(world(kl=lambda strategy, context: 0.205))
    assert "another text might decide otherwise" in run.limit["by_strategy"]["quantized:hqq:4"]["reason"]


@pytest.mark.parametrize("outcome", [QualityOutcome.FAILED, QualityOutcome.NOT_MEASURED, QualityOutcome.OUT_OF_MEMORY])
def test_what_could_not_be_scored_is_provisional_and_the_run_goes_on(outcome: QualityOutcome) -> None:
    run = answered(world(unscored=lambda ask: ask.without_figures(outcome, "it crashed")))
    quality = run.change("quantized:hqq:4")["quality"]
    assert (quality["outcome"], quality["mean_kl"], quality["message"]) == (str(outcome), None, "it crashed")
    assert (run.limit["fits_workload"], run.limit["provisional"]) == (True, True)


def test_why_nothing_was_scored_is_a_sentence_that_ends_once() -> None:
    died = "The measuring process ended (signal SIGKILL)."
    run = answered(world(unscored=lambda ask: ask.without_figures(QualityOutcome.FAILED, died)))
    assert "was not measured: The measuring process ended (signal SIGKILL).\n" in f"{run.logs}\n"


def test_a_reference_that_does_not_fit_is_asked_where_the_normal_cache_ran() -> None:
    def without_room(ask: QualityAsk) -> Quality | None:
        fits = ask.context_tokens < 1_000
        return None if fits else ask.without_figures(QualityOutcome.OUT_OF_MEMORY, "the comparison does not fit")

    one = world(unscored=without_room)
    run = answered(one)
    quality = run.change("quantized:hqq:4")["quality"]
    ran = [row["context"] for row in run.measured("default") if row["outcome"] == "ok"]
    assert quality["context"] == max(context for context in ran if context < 1_056)
    assert run.limit["provisional"] is False


def test_a_context_too_short_to_score_says_so() -> None:
    run = answered(
        world(
            asked=question(
                strategies=TRIED, prompt_tokens=320, typical_prompt_tokens=64, max_kl=0.2, compare_anyway=True
            )
        )
    )
    quality = run.change("quantized:hqq:4")["quality"]
    assert quality["outcome"] == "not_measured"
    assert f"takes {LEAST_CONTEXT_TOKENS:,}" in quality["message"]


def test_a_strategy_that_fits_all_but_the_bound_on_quality_is_named_with_its_figures() -> None:
    asked = question(strategies=strategies("quantized:quanto:2"), max_kl=0.2, capacity_bytes=289 * MIB)
    limit = answered(world(asked=asked)).limit
    rows = {row["what"]: row for row in limit["to_change"]}
    assert limit["fits_workload"] is False
    assert limit["strategy"] == "default"
    assert (rows["quality"]["figures"]["mean_kl"], rows["quality"]["figures"]["max_kl"]) == (2.5, 0.2)
    assert "bounds" not in rows
    assert rows["capacity"]["figures"]["strategy"] == "default"


def test_the_fastest_within_the_bound_is_recommended_not_the_fastest() -> None:
    def pace(strategy: Strategy, prompt: int) -> tuple[float, float]:
        return 0.1, 50.0 if strategy.bits == 2 else 10.0

    run = answered(world(pace=pace))
    assert run.limit["strategy"] != "quantized:quanto:2"
    assert run.limit["fits_workload"] is True


def test_a_quality_survives_its_json() -> None:
    quality = world().quality(QualityAsk(strategy=TRIED[1], context_tokens=640))
    assert Quality.from_json(quality.as_json()) == quality


@pytest.mark.parametrize(
    ("kl", "text"),
    [(0.0004, "0.0004"), (0.0165, "0.017"), (0.2, "0.20"), (2.5, "2.50"), (123.4, "123.40")],
)
def test_a_mean_is_written_without_powers_of_ten(kl: float, text: str) -> None:
    quality = replace(world().quality(QualityAsk(strategy=TRIED[1], context_tokens=640)), mean_kl=kl, kl_low=None)
    assert figures_text(quality) == f"{text} over 256 tokens; same top token 90 %"


def test_without_need_of_a_change_nothing_is_scored() -> None:
    one = world(asked=question(strategies=TRIED, max_kl=0.2, capacity_bytes=GIB))
    answered(one)
    assert one.scored == []
