"""The limit is what really ran: never above the truth, and no more than a step below it."""

import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.procedure.contexts import grid_to
from jobs.sizing.budgets import RunPeak
from jobs.sizing.strategy import BASELINE, Strategy
from jobs.sizing.units import KIB, MIB
from tests.procedure.worlds import Answered, Truth, World, answered, question, record, strategies

FIVE = strategies("static", "quantized:hqq:8", "quantized:hqq:4", "quantized:quanto:4", "chunked:512")


def hidden_limit(world: World, strategy: Strategy, budget_bytes: int) -> int | None:
    """The last prompt of the grid up to which all fit."""
    last = None
    for prompt in grid_to(world.asked.prompt_tokens).prompts:
        if world.peak(strategy, prompt) > budget_bytes:
            break
        last = prompt
    return last


def by(ratio: float, offset_bytes: int = 0) -> Truth:
    def truth(strategy: Strategy, prompt: int, estimated: RunPeak) -> int:
        rise = estimated.peak_bytes - estimated.weights_bytes
        return estimated.weights_bytes + round(ratio * rise) + offset_bytes

    return truth


def noisy(ratio: float, noise_bytes: int, seed: int) -> Truth:
    """The same noise at the same point, whoever asks."""

    def truth(strategy: Strategy, prompt: int, estimated: RunPeak) -> int:
        jitter = random.Random(f"{seed} {strategy} {prompt}").randint(-noise_bytes, noise_bytes)
        return by(ratio)(strategy, prompt, estimated) + jitter

    return truth


def bent(strategy: Strategy, prompt: int, estimated: RunPeak) -> int:
    """Scores that nobody estimated: memory grows with the square."""
    return estimated.peak_bytes + 12 * prompt * prompt


def windowed(strategy: Strategy, prompt: int, estimated: RunPeak) -> int:
    """Memory stops growing at 600 tokens."""
    return estimated.weights_bytes + 30 * KIB * min(prompt, 600)


def stepped(strategy: Strategy, prompt: int, estimated: RunPeak) -> int:
    """An allocator that takes memory in blocks of 2 MiB."""
    return -(-estimated.peak_bytes // (2 * MIB)) * 2 * MIB


def dipping(strategy: Strategy, prompt: int, estimated: RunPeak) -> int:
    """Needs more between 500 and 700 tokens than beyond."""
    return estimated.weights_bytes + (30 * MIB if 500 < prompt < 700 else 5 * MIB)


HONEST: dict[str, Truth] = {
    "as estimated": by(1.0),
    "a fifth more": by(1.2),
    "a third less": by(0.67),
    "offset": by(1.0, 4 * MIB),
    "stepped": stepped,
    "noisy": noisy(1.05, 600 * KIB, 1),
}
MISLEADING: dict[str, Truth] = {"bent": bent, "windowed": windowed}


def check_promises(run: Answered, world: World) -> None:
    """Whatever the truth: each promise ran and fitted, and nothing that failed lies below it."""
    budget = world.asked.capacity_bytes or 0
    budget -= round(budget * world.asked.headroom_percent / 100)
    for name, found in run.limit["by_strategy"].items():
        if found["context"] is None:
            continue
        rows = run.measured(name)
        ran = next(row for row in rows if row["context"] == found["context"])
        assert ran["outcome"] == "ok"
        assert ran["peak_bytes"] <= budget
        below = [row for row in rows if row["context"] < found["context"] and row["outcome"] != "skipped"]
        assert all(row["outcome"] == "ok" and row["peak_bytes"] <= budget for row in below)
        if found["first_failing_context"] is not None:
            assert found["first_failing_context"] > found["context"]


def check_effort(run: Answered) -> None:
    stages = [event.data for event in run.events if event.kind == "measurement"]
    for name in {row["strategy"] for row in stages}:
        of = [row["stage"] for row in stages if row["strategy"] == name]
        assert of.count("budgets") + of.count("baseline") <= 6
        assert of.count("changes") <= 4
        assert of.count("limit") <= 3


def limits_beside_the_truth(truth: Truth, prompt: int, headroom: int) -> Iterator[tuple[dict[str, Any], int | None]]:
    asked = question(
        strategies=FIVE, prompt_tokens=prompt, typical_prompt_tokens=prompt // 2, headroom_percent=headroom
    )
    world = World(asked=asked, record=record(), truth=truth)
    run = answered(world)
    check_promises(run, world)
    check_effort(run)
    budget = run.stages["budgets"]["capacity_bytes"] - run.stages["budgets"]["headroom_bytes"]
    for name, found in run.limit["by_strategy"].items():
        yield found, hidden_limit(world, Strategy.parse(name), budget)


@pytest.mark.parametrize("truth", HONEST.values(), ids=HONEST.keys())
@pytest.mark.parametrize("headroom", [0, 3])
@pytest.mark.parametrize("prompt", [1_024, 2_048, 30_000])
def test_each_limit_is_the_last_step_that_fits_and_confirmed(truth: Truth, headroom: int, prompt: int) -> None:
    for found, most in limits_beside_the_truth(truth, prompt, headroom):
        assert found["prompt"] == most
        assert found["confirmed"] is True


@pytest.mark.parametrize("truth", MISLEADING.values(), ids=MISLEADING.keys())
@pytest.mark.parametrize("headroom", [0, 3])
@pytest.mark.parametrize("prompt", [2_048, 30_000])
def test_a_curve_that_misleads_costs_precision_never_truth(truth: Truth, headroom: int, prompt: int) -> None:
    for found, most in limits_beside_the_truth(truth, prompt, headroom):
        assert found["prompt"] <= most
        assert found["prompt"] == most or not found["confirmed"]


@pytest.mark.parametrize("name", ["default", "quantized:hqq:4"])
def test_the_first_failing_context_is_one_step_above(name: str) -> None:
    run = answered(World(asked=question(strategies=FIVE, capacity_bytes=270 * MIB), record=record()))
    found = run.limit["by_strategy"][name]
    assert found["first_failing_context"] - found["context"] == 64


def test_quantized_caches_carry_more_than_the_normal_one() -> None:
    found = answered(World(asked=question(strategies=FIVE), record=record())).limit["by_strategy"]
    for name in ("quantized:hqq:4", "quantized:quanto:4"):
        assert found[name]["context"] > found["default"]["context"]


def test_memory_that_dips_again_promises_nothing_beyond_the_hump() -> None:
    """Longer contexts fit, but whoever uses them comes by the ones that do not."""
    world = World(asked=question(typical_prompt_tokens=600), record=record(), truth=dipping)
    run = answered(world)
    check_promises(run, world)
    assert run.limit["context"] <= 500 + 32
    assert run.stages["baseline"]["memory_limits"] is True
    assert run.limit["fits_workload"] is False


def test_a_strategy_that_fails_at_odd_shapes_is_not_said_to_lack_memory() -> None:
    def odd(strategy: Strategy, prompt: int) -> str | None:
        return "shape is invalid" if strategy.backend == "hqq" and prompt == 1_024 else None

    world = World(asked=question(strategies=FIVE), record=record(), fails=odd)
    run = answered(world)
    check_promises(run, world)
    found = run.limit["by_strategy"]["quantized:hqq:4"]
    assert found["limited_by"] is None
    assert "shape is invalid" in found["reason"]
    assert found["context"] == 992
    assert run.limit["strategy"] == "quantized:quanto:4"


def test_where_not_even_a_short_context_fits_there_is_no_context_but_a_reason() -> None:
    run = answered(World(asked=question(strategies=FIVE, capacity_bytes=200 * MIB), record=record()))
    assert run.limit["context"] is None
    assert run.limit["limited_by"] == "memory"
    assert run.limit["reason"]
    assert "Nothing fits" in run.limit["verdict"]


def test_a_limit_below_the_short_context_is_found_too() -> None:
    world = World(asked=question(capacity_bytes=261 * MIB), record=record())
    run = answered(world)
    assert run.limit["prompt"] == hidden_limit(world, BASELINE, 261 * MIB)
    assert run.limit["context"] < 288


def test_a_minimum_speed_limits_the_context_and_is_named() -> None:
    asked = question(capacity_bytes=1024 * MIB, min_decode_tokens_per_s=20.0)
    run = answered(World(asked=asked, record=record()))
    assert run.limit["limited_by"] == "speed"
    assert run.limit["ran_at"]["decode_tokens_per_s"] >= 20 > run.limit["failed_at"]["decode_tokens_per_s"]
    assert run.limit["first_failing_context"] - run.limit["context"] <= 64


def test_a_longest_wait_for_the_first_token_limits_too() -> None:
    run = answered(World(asked=question(capacity_bytes=1024 * MIB, max_ttft_s=0.7), record=record()))
    assert (run.limit["limited_by"], run.limit["prompt"]) == ("ttft", 640 + 0)


def test_where_the_workload_ends_it_what_lies_beyond_is_predicted_and_said_so() -> None:
    run = answered(World(asked=question(capacity_bytes=1024 * MIB), record=record()))
    assert run.limit["limited_by"] == "workload"
    assert run.limit["first_failing_context"] is None
    assert run.limit["confirmed"] is True
    beyond = run.limit["longest_predicted"]
    assert beyond["predicted"] is True
    assert beyond["context"] > 20_000


def test_a_prediction_stops_at_the_models_own_maximum() -> None:
    run = answered(World(asked=question(capacity_bytes=1024 * MIB), record=record(native_context=8_192)))
    beyond = run.limit["longest_predicted"]
    assert 8_000 < beyond["context"] <= 8_192
    assert beyond["to_native_context"] is True


def test_quantized_is_provisional_and_the_normal_cache_is_not() -> None:
    found = answered(World(asked=question(strategies=FIVE), record=record())).limit["by_strategy"]
    assert found["quantized:hqq:8"]["provisional"] is True
    assert found["default"]["provisional"] is False


def test_the_answer_says_what_it_holds_for() -> None:
    holds_for = answered(World(asked=question(), record=record())).limit["holds_for"]
    for words in ("generate()", "bfloat16", "normal cache", "1 sequence", "a CPU", "transformers 5.24.0"):
        assert words in holds_for


worlds = st.builds(
    lambda ratio, noise, seed, capacity, prompt, headroom: World(
        asked=question(
            strategies=strategies("quantized:hqq:4", "chunked:512"),
            prompt_tokens=prompt,
            typical_prompt_tokens=max(1, prompt // 2),
            capacity_bytes=capacity * MIB,
            headroom_percent=headroom,
        ),
        record=record(),
        truth=noisy(ratio, noise, seed),
    ),
    ratio=st.floats(0.5, 3.0),
    noise=st.integers(0, 4 * MIB),
    seed=st.integers(0, 10**6),
    capacity=st.integers(250, 400),
    prompt=st.integers(1, 6_000),
    headroom=st.sampled_from([0, 2, 10]),
)


@settings(max_examples=120, deadline=None)
@given(worlds)
def test_a_limit_never_exceeds_what_was_seen_to_fit(world: World) -> None:
    run = answered(world)
    check_promises(run, world)
    check_effort(run)


failures: st.SearchStrategy[Callable[[Strategy, int], str | None]] = st.builds(
    lambda modulus: lambda strategy, prompt: "odd shape" if strategy != BASELINE and prompt % modulus == 0 else None,
    st.sampled_from([64, 128, 192, 320]),
)


@settings(max_examples=40, deadline=None)
@given(worlds, failures)
def test_nor_where_strategies_fail_in_themselves(world: World, fails: Callable[[Strategy, int], str | None]) -> None:
    world.fails = fails
    run = answered(world)
    check_promises(run, world)
    check_effort(run)
