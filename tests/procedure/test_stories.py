"""Three stories of real users, in the proportions of a small architecture and a small capacity."""

import pytest

from jobs.procedure.estimate import is_inspected
from jobs.sizing.record import LayerGroup, LayerKind
from jobs.sizing.strategy import Strategy
from jobs.sizing.units import GIB, MIB
from tests.procedure.worlds import World, answered, brisk, question, record, strategies

# 24 GB beside 15 GiB of weights leave about half as much again; 310 MiB beside 256 MiB leave a fifth.
CAPACITY = 310 * MIB
ALL = strategies("static", "quantized:hqq:8", "quantized:hqq:4", "offloaded", "chunked:512")


def slow_when_offloaded(strategy: Strategy, prompt: int) -> tuple[float, float]:
    """The whole cache crosses the bus for every token."""
    ttft_s, speed = brisk(strategy, prompt)
    return ttft_s, 2.0 if strategy.is_offloaded else speed


def test_the_honest_no() -> None:
    """Far more context than any strategy carries at the speed asked for."""
    asked = question(
        prompt_tokens=8_192,
        typical_prompt_tokens=2_048,
        capacity_bytes=CAPACITY,
        headroom_percent=2,
        min_decode_tokens_per_s=5.0,
        strategies=ALL,
    )
    world = World(asked=asked, record=record(), device_kind="cuda", pace=slow_when_offloaded)
    run = answered(world)
    assert run.limit["fits_workload"] is False
    assert "Nothing fits the workload's 8,224 tokens" in run.limit["verdict"]
    reach = {name: found["context"] or 0 for name, found in run.limit["by_strategy"].items()}
    assert reach["default"] < reach["quantized:hqq:8"] < reach["quantized:hqq:4"]
    assert run.limit["by_strategy"]["offloaded"]["limited_by"] == "speed"
    assert run.limit["context"] == max(reach.values())
    assert run.limit["strategy"] == max(reach, key=lambda name: reach[name])

    said = {(row["what"], row["figures"]["strategy"]): row for row in run.limit["to_change"]}
    bigger = said["capacity", "default"]["figures"]
    assert bigger["predicted"] is True
    estimated = run.stages["budgets"]["workload"]["peak_bytes"]
    assert abs(bigger["capacity_bytes"] * 0.98 - estimated) < MIB
    shorter = said["prompt", run.limit["strategy"]]["figures"]
    assert (shorter["prompt_tokens"], shorter["predicted"]) == (run.limit["prompt"], False)


@pytest.mark.parametrize("inspected", [True, False])
def test_a_combination_is_named_as_predicted_where_it_would_fit(inspected: bool) -> None:
    """Whether the model was inspected with both together, or only with each of them."""
    both = Strategy.parse("quantized:hqq:4+chunked:512")
    whole = record()
    asked = question(
        prompt_tokens=4_096,
        typical_prompt_tokens=512,
        capacity_bytes=CAPACITY,
        strategies=strategies("quantized:hqq:4", "chunked:512"),
    )
    rungs = tuple(rung for rung in whole.rungs if inspected or rung.strategy != str(both))
    world = World(asked=asked, record=record(rungs=rungs))
    assert is_inspected(asked, world.record, both) is inspected
    run = answered(world)
    assert run.limit["fits_workload"] is False
    row = next(row for row in run.limit["to_change"] if row["what"] == "combination")
    assert row["figures"] == {"strategy": str(both), "predicted": True}
    assert "not measured" in row["sentence"]
    assert not any(ask.strategy == both for ask in world.asks)


def test_fewer_sequences_are_named_as_predicted_where_they_would_fit() -> None:
    asked = question(sequences=4, capacity_bytes=340 * MIB, strategies=strategies("static"))
    run = answered(World(asked=asked, record=record()))
    assert run.limit["fits_workload"] is False
    row = next(row for row in run.limit["to_change"] if row["what"] == "sequences")
    assert row["figures"]["sequences"] == 2
    assert row["figures"]["predicted"] is True


def test_offloading_is_right() -> None:
    """A nightly job: slow is fine, the memory is not there, CPU RAM is."""
    asked = question(
        prompt_tokens=3_072,
        typical_prompt_tokens=1_024,
        capacity_bytes=CAPACITY,
        headroom_percent=2,
        min_decode_tokens_per_s=1.0,
        host_capacity_bytes=GIB,
        strategies=ALL,
    )
    world = World(asked=asked, record=record(), device_kind="cuda", pace=slow_when_offloaded)
    run = answered(world)
    assert run.stages["baseline"]["memory_limits"] is True
    assert (run.limit["strategy"], run.limit["fits_workload"]) == ("offloaded", True)
    assert run.limit["ran_at"]["host_bytes"] == 3_103 * 23_040
    assert run.limit["provisional"] is False
    assert "The normal cache ends at" in run.limit["verdict"]
    assert run.limit["settings"]["cache_implementation"] == "offloaded"


def test_without_the_cpu_ram_offloading_is_not() -> None:
    asked = question(
        prompt_tokens=3_072,
        typical_prompt_tokens=1_024,
        capacity_bytes=CAPACITY,
        host_capacity_bytes=40 * MIB,
        strategies=strategies("offloaded"),
    )
    run = answered(World(asked=asked, record=record(), device_kind="cuda", pace=slow_when_offloaded))
    found = run.limit["by_strategy"]["offloaded"]
    assert found["limited_by"] == "host_memory"
    assert run.limit["fits_workload"] is False


def test_quantization_is_a_bad_idea() -> None:
    """Plenty of memory; compared anyway."""
    asked = question(
        prompt_tokens=1_024,
        typical_prompt_tokens=256,
        capacity_bytes=GIB,
        headroom_percent=10,
        compare_anyway=True,
        strategies=strategies("quantized:hqq:4"),
    )
    run = answered(World(asked=asked, record=record()))
    assert run.limit["strategy"] == "default"
    assert "No change is needed" in run.limit["verdict"]
    cost = run.change("quantized:hqq:4")["cost"]
    assert cost["decode_ratio"] < 0.7
    assert 0 < cost["saved_bytes"] < 10 * MIB


def test_a_windowed_model_takes_no_quantized_cache_and_no_saving_is_drawn() -> None:
    layers = (
        LayerGroup(kind=LayerKind.GROWING, count=5, heads=3, key_width=64, value_width=64),
        LayerGroup(kind=LayerKind.WINDOWED, count=25, heads=3, key_width=64, value_width=64, window_tokens=511),
    )
    refusals = {"quantized": "not possible: windowed layers"}
    asked = question(capacity_bytes=GIB, compare_anyway=True, strategies=strategies("quantized:hqq:4"))
    run = answered(World(asked=asked, record=record(layers=layers, refusals=refusals)))
    change = run.change("quantized:hqq:4")
    assert (change["applicable"], change["reason"]) == (False, "not possible: windowed layers")
    assert {row["strategy"] for row in run.stages["budgets"]["estimates"]} == {"default"}
    assert list(run.limit["by_strategy"]) == ["default"]
