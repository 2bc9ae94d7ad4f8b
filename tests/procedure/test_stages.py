"""What each stage measures, how often, and what it says."""

from typing import Any

import pytest

from jobs.procedure.events import EventKind
from jobs.procedure.measurement import Cancelled, Measurement
from jobs.procedure.question import Depth
from jobs.procedure.run import answer
from jobs.sizing.refusal import Refusal
from jobs.sizing.strategy import BASELINE
from jobs.sizing.units import GIB, MIB
from tests.procedure.worlds import Truth, World, answered, question, record, strategies

FIVE = strategies("static", "quantized:hqq:8", "quantized:hqq:4", "quantized:quanto:4", "chunked:512")


def test_the_four_stages_start_and_finish_in_order() -> None:
    run = answered(World(asked=question(strategies=FIVE), record=record()))
    marks = [(str(e.kind), e.data["stage"]) for e in run.events if e.kind.startswith("stage")]
    stages = ("budgets", "baseline", "changes", "limit")
    assert marks == [(kind, stage) for stage in stages for kind in ("stage_started", "stage_finished")]


def test_every_measurement_is_announced_and_made_once() -> None:
    world = World(asked=question(strategies=FIVE), record=record())
    run = answered(world)
    announced = [(e.data["strategy"], e.data["context"]) for e in run.events if e.kind is EventKind.MEASURING]
    measured = [(e.data["strategy"], e.data["context"]) for e in run.events if e.kind is EventKind.MEASUREMENT]
    assert announced == measured
    assert len(set(measured)) == len(measured) == len(world.asks)


def test_estimates_stand_beside_what_was_measured_at_the_same_point() -> None:
    def a_little_more(strategy, prompt, estimated):  # type: ignore[no-untyped-def]
        return estimated.peak_bytes + MIB

    budgets = answered(World(asked=question(), record=record(), truth=a_little_more)).stages["budgets"]
    assert budgets["at_context"] == 160
    assert budgets["weights"]["error_percent"] == 0
    assert budgets["kv"]["estimated_bytes"] == budgets["kv"]["measured_bytes"] == 159 * 23_040
    assert budgets["working"]["measured_bytes"] - budgets["working"]["estimated_bytes"] == MIB
    assert budgets["peak"]["error_percent"] == pytest.approx(-100 * MIB / budgets["peak"]["measured_bytes"], abs=0.01)


def test_the_workloads_estimate_tells_prompt_and_answer_apart() -> None:
    workload = answered(World(asked=question(), record=record())).stages["budgets"]["workload"]
    assert workload["context"] == 1_056
    assert workload["kv_prompt_bytes"] == 1_024 * 23_040
    assert workload["kv_answer_bytes"] == 31 * 23_040
    assert workload["fits"] is False


def test_headroom_and_capacity_are_in_bytes() -> None:
    asked = question(capacity_bytes=GIB, headroom_percent=10)
    budgets = answered(World(asked=asked, record=record())).stages["budgets"]
    assert (budgets["capacity_bytes"], budgets["headroom_bytes"]) == (GIB, round(GIB / 10))


def test_the_baseline_ends_in_a_real_out_of_memory_where_memory_limits() -> None:
    run = answered(World(asked=question(), record=record()))
    assert run.stages["baseline"]["memory_limits"] is True
    assert run.stages["baseline"]["measurements"][-1]["outcome"] == "out_of_memory"
    assert "Out of memory at 1,056 tokens with the normal cache, as a measurement" in run.logs


def test_where_memory_is_no_limit_no_change_is_tried() -> None:
    run = answered(World(asked=question(capacity_bytes=GIB, strategies=FIVE), record=record()))
    assert run.stages["baseline"]["memory_limits"] is False
    assert [change["applicable"] for change in run.stages["changes"]] == [None] * len(FIVE)
    assert all(change["measurements"] == [] for change in run.stages["changes"])
    assert "no change is needed" in run.logs
    assert run.limit["strategy"] == "default"
    assert "No change is needed." in run.limit["verdict"]


def test_compare_anyway_tries_them_on_the_same_prompts() -> None:
    asked = question(capacity_bytes=GIB, strategies=FIVE, compare_anyway=True)
    run = answered(World(asked=asked, record=record()))
    for strategy in FIVE:
        assert [row["context"] for row in run.change(str(strategy))["measurements"]] == [160, 1_056]
    assert run.limit["strategy"] == "default"


def test_a_change_says_what_it_costs_at_the_short_context() -> None:
    run = answered(World(asked=question(strategies=strategies("quantized:hqq:4")), record=record()))
    cost = run.change("quantized:hqq:4")["cost"]
    default, change = run.measured("default")[0], run.measured("quantized:hqq:4")[0]
    assert cost["context"] == 160
    assert cost["decode_ratio"] == pytest.approx(1 / 1.6, abs=1e-4)
    assert cost["saved_bytes"] == default["peak_bytes"] - change["peak_bytes"] > 0


def test_a_workload_far_beyond_memory_is_measured_only_as_far_as_a_cpu_can_warm() -> None:
    run = answered(World(asked=question(prompt_tokens=120_000, typical_prompt_tokens=60_000), record=record()))
    assert "far beyond this memory" in run.logs
    contexts = [row["context"] for row in run.measured("default")]
    assert max(contexts) < 2_000
    assert run.stages["baseline"]["memory_limits"] is True


def test_on_a_gpu_the_workloads_longest_is_tried_at_once() -> None:
    asked = question(prompt_tokens=120_000, typical_prompt_tokens=60_000)
    run = answered(World(asked=asked, record=record(), device_kind="cuda"))
    assert max(row["context"] for row in run.measured("default")) == 120_032


def test_without_a_capacity_the_whole_device_is_the_capacity() -> None:
    run = answered(World(asked=question(capacity_bytes=None), record=record(), device_bytes=280 * MIB))
    assert run.stages["budgets"]["capacity_bytes"] == 280 * MIB
    assert run.stages["baseline"]["memory_limits"] is True


def test_what_the_model_refuses_says_why_and_saves_nothing() -> None:
    refusals = {"quantized": "quantized caches hold full attention layers only; this model has windowed layers"}
    world = World(asked=question(strategies=FIVE), record=record(refusals=refusals))
    change = answered(world).change("quantized:hqq:4")
    assert change["applicable"] is False
    assert "windowed layers" in change["reason"]
    assert (change["measurements"], change["cost"]) == ([], None)
    assert not any(ask.strategy.is_quantized for ask in world.asks)


def test_offloading_is_not_applicable_on_a_cpu() -> None:
    world = World(asked=question(strategies=strategies("offloaded", "offloaded_static")), record=record())
    run = answered(world)
    assert [change["applicable"] for change in run.stages["changes"]] == [False, False]
    assert "CPU" in run.change("offloaded")["reason"]


def test_a_strategy_that_fails_at_the_short_context_is_left_out_with_its_reason() -> None:
    def no_quanto(strategy, prompt):  # type: ignore[no-untyped-def]
        return "shift must be specified" if strategy.backend == "quanto" else None

    run = answered(World(asked=question(strategies=FIVE), record=record(), fails=no_quanto))
    change = run.change("quantized:quanto:4")
    assert (change["applicable"], change["reason"]) == (False, "shift must be specified")
    assert "quantized:quanto:4" not in run.limit["by_strategy"]
    assert run.limit["fits_workload"] is True


def test_a_baseline_that_fails_at_the_short_context_ends_the_run() -> None:
    world = World(asked=question(), record=record(), fails=lambda strategy, prompt: "a device-side assert")
    with pytest.raises(Refusal, match="device-side assert") as refused:
        answered(world)
    assert refused.value.code == "baseline_failed"


def test_a_failure_later_is_no_limit_of_memory() -> None:
    def past_the_window(strategy, prompt):  # type: ignore[no-untyped-def]
        return "device-side assert triggered" if prompt > 512 else None

    asked = question(capacity_bytes=GIB, strategies=strategies("static"))
    run = answered(World(asked=asked, record=record(), fails=past_the_window))
    assert run.stages["baseline"]["memory_limits"] is False
    found = run.limit["by_strategy"]["default"]
    assert found["limited_by"] is None
    assert "device-side assert" in found["reason"]
    assert run.limit["fits_workload"] is False


def killed_at(*prompts: int, strategy: str = "default") -> dict[str, Any]:
    """What a World is given so that others end the process there."""
    return {
        "fails": lambda one, prompt: "killed from outside" if str(one) == strategy and prompt in prompts else None,
        "fails_with": "killed",
    }


def test_a_process_killed_from_outside_bounds_nothing_where_a_longer_context_ran() -> None:
    asked = question(capacity_bytes=GIB, strategies=strategies("static"), compare_anyway=True)
    run = answered(World(asked=asked, record=record(), **killed_at(512)))
    assert [row["outcome"] for row in run.measured("default")] == ["ok", "failed", "ok"]
    assert (run.limit["strategy"], run.limit["context"], run.limit["limited_by"]) == ("default", 1_056, "workload")
    assert run.limit["by_strategy"]["default"]["first_failing_context"] is None


def test_nor_is_a_context_promised_at_which_the_process_was_killed() -> None:
    run = answered(World(asked=question(capacity_bytes=GIB), record=record(), **killed_at(1_024)))
    found = run.limit["by_strategy"]["default"]
    assert found["context"] is not None and found["context"] < 1_056
    assert (found["limited_by"], found["fits_workload"]) == (None, False)
    assert "killed from outside" in found["reason"]


def test_a_strategy_whose_process_was_killed_at_the_short_context_is_not_measured_rather_than_not_possible() -> None:
    asked = question(capacity_bytes=GIB, strategies=strategies("static", "chunked:512"), compare_anyway=True)
    run = answered(World(asked=asked, record=record(), **killed_at(128, strategy="static")))
    assert run.change("static")["applicable"] is None
    assert "Not measured with static: killed from outside" in run.logs
    assert run.change("chunked:512")["applicable"] is True


def test_a_baseline_whose_process_was_killed_at_the_short_context_says_so_and_blames_no_model() -> None:
    with pytest.raises(Refusal, match="killed from outside") as refused:
        answered(World(asked=question(capacity_bytes=GIB), record=record(), **killed_at(128)))
    assert refused.value.code == "killed"
    assert "precision" not in refused.value.hint


def test_cancelling_goes_through() -> None:
    class Stopping(World):
        def measure(self, ask):  # type: ignore[no-untyped-def]
            if ask.strategy != BASELINE:
                raise Cancelled
            return super().measure(ask)

    with pytest.raises(Cancelled):
        answered(Stopping(asked=question(strategies=FIVE), record=record()))


@pytest.mark.parametrize(("depth", "repeats"), [(Depth.QUICK, (1, 2)), (Depth.FULL, (2, 4))])
def test_depth_is_repeats(depth: Depth, repeats: tuple[int, int]) -> None:
    world = World(asked=question(depth=depth), record=record())
    answered(world)
    assert {(ask.least_repeats, ask.most_repeats) for ask in world.asks} == {repeats}


def test_a_time_cap_ends_the_measuring_and_promises_only_what_was_measured() -> None:
    run = answered(World(asked=question(strategies=FIVE), record=record(), skip_after=3))
    assert run.limit["context"] == 544
    assert run.limit["confirmed"] is False
    assert "the time cap was reached" in run.change("static")["reason"]
    assert run.change("static")["applicable"] is None


@pytest.mark.parametrize(("ran", "longest"), [(0, None), (1, "160"), (2, "544")])
def test_a_time_cap_before_the_end_is_no_answer_rather_than_nothing_fits(ran: int, longest: str | None) -> None:
    asked = question(capacity_bytes=GIB, strategies=strategies("static"))
    run = answered(World(asked=asked, record=record(), skip_after=ran))
    assert run.limit["verdict"].startswith("No answer for the workload's 1,056 tokens: the measuring ended before")
    assert (f"The longest that was seen to fit is {longest} tokens" in run.limit["verdict"]) is (longest is not None)
    assert "Nothing fits" not in run.logs
    assert "expected to fit" in run.logs and "(predicted: it did not run)" in run.logs


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"prompt_tokens": 0}, "bad_prompt"),
        ({"prompt_tokens": 10**12}, "bad_prompt"),
        ({"answer_tokens": -1}, "bad_answer"),
        ({"sequences": 0}, "bad_sequences"),
        ({"typical_prompt_tokens": 2_048}, "bad_typical_prompt"),
        ({"headroom_percent": 95}, "bad_headroom"),
        ({"capacity_bytes": 0}, "bad_capacity"),
        ({"min_decode_tokens_per_s": -1.0}, "bad_min_speed"),
        ({"max_ttft_s": 0.0}, "bad_max_ttft"),
    ],
)
def test_nonsense_is_refused_before_anything_is_loaded(changes: dict[str, int], code: str) -> None:
    world = World(asked=question(**changes), record=record())
    with pytest.raises(Refusal) as refused:
        next(answer(world.asked, world.record, world))
    assert refused.value.code == code
    assert refused.value.hint


def test_a_workload_beyond_the_models_own_maximum_is_refused_before_running() -> None:
    world = World(asked=question(prompt_tokens=10_000), record=record(native_context=1_024))
    with pytest.raises(Refusal, match="1,024") as refused:
        next(answer(world.asked, world.record, world))
    assert refused.value.code == "beyond_native_context"


@pytest.mark.parametrize(("answer", "refused"), [(60, False), (61, True), (63, True)])
def test_no_context_beyond_the_models_own_maximum_is_measured_for_a_prompt_of_under_4_tokens(
    answer: int, refused: bool
) -> None:
    asked = question(prompt_tokens=1, typical_prompt_tokens=1, answer_tokens=answer)
    world = World(asked=asked, record=record(native_context=64))
    if refused:
        with pytest.raises(Refusal) as refusal:
            answered(world)
        assert refusal.value.code == "beyond_native_context" and "60" in refusal.value.hint
    else:
        assert answered(world).limit["context"] == 64
    assert all(ask.context_tokens <= 64 for ask in world.asks)


def test_a_prompt_that_is_no_multiple_of_4_says_what_stands_for_it() -> None:
    run = answered(World(asked=question(prompt_tokens=1_021, capacity_bytes=GIB), record=record()))
    assert "1,024 stands for 1,021" in run.logs
    assert (run.limit["context"], run.limit["fits_workload"]) == (1_056, True)


def test_what_the_bench_finds_not_applicable_is_left_out_with_its_reason() -> None:
    class Uncompiled(World):
        def measure(self, ask):  # type: ignore[no-untyped-def]
            if ask.strategy.backend != "quanto":
                return super().measure(ask)
            error = {"code": "not_applicable", "message": "quanto needs a C++ compiler"}
            return Measurement.from_json(super().measure(ask).as_json() | {"outcome": "skipped", "error": error})

    change = answered(Uncompiled(asked=question(strategies=FIVE), record=record())).change("quantized:quanto:4")
    assert (change["applicable"], change["reason"]) == (False, "quanto needs a C++ compiler")


def test_a_model_without_a_maximum_of_its_own_takes_any_workload() -> None:
    assert answered(World(asked=question(capacity_bytes=GIB), record=record(native_context=None))).limit["context"]


def test_a_workload_that_is_the_models_own_maximum_is_limited_by_it() -> None:
    run = answered(World(asked=question(capacity_bytes=GIB), record=record(native_context=1_056)))
    assert (run.limit["limited_by"], run.limit["fits_workload"]) == ("native_context", True)


def test_a_measured_peak_beyond_the_capacity_teaches_the_curve() -> None:
    """The point did not fit, but its peak is a measurement."""

    class Overshooting(World):
        def measure(self, ask):  # type: ignore[no-untyped-def]
            measurement: Measurement = super().measure(ask)
            if measurement.outcome != "out_of_memory":
                return measurement
            return Measurement.from_json(
                measurement.as_json() | {"peak_bytes": self.peak(ask.strategy, ask.prompt_tokens)}
            )

    run = answered(Overshooting(asked=question(), record=record()))
    assert run.limit["by_strategy"]["default"]["first_failing_context"] == 800
    assert run.limit["by_strategy"]["default"]["context"] == 736


def test_loading_is_told_with_device_and_environment() -> None:
    run = answered(World(asked=question(), record=record()))
    loaded = next(event.data for event in run.events if event.kind is EventKind.LOADED)
    assert loaded["device"]["kind"] == "cpu"
    assert loaded["environment"] == {"transformers": "5.24.0"}
    assert loaded["weights_bytes"] == 256 * MIB


def test_the_truth_is_only_asked_through_the_bench() -> None:
    seen: list[int] = []

    def truth(strategy, prompt, estimated):  # type: ignore[no-untyped-def]
        seen.append(prompt)
        return estimated.peak_bytes

    hidden: Truth = truth
    world = World(asked=question(), record=record(), truth=hidden)
    answered(world)
    assert seen == [ask.prompt_tokens for ask in world.asks]
