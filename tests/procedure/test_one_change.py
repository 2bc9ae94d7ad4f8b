from typing import Any

import pytest

from jobs.procedure.one_change import is_proven, settings_changed
from jobs.sizing.strategy import BASELINE, Strategy
from tests.procedure.worlds import World, answered, question, record, strategies

CHANGES = ["static", "quantized:hqq:8", "quantized:quanto:4", "quantized:fp8", "chunked:512"]


def recorded(name: str) -> dict[str, Any]:
    return World.recorded(Strategy.parse(name), 32)


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_differs_from_the_baseline_in_one_thing(name: str) -> None:
    assert is_proven(Strategy.parse(name), settings_changed(recorded("default"), recorded(name)))


def test_a_combination_differs_in_two() -> None:
    both = Strategy.parse("quantized:hqq:4+chunked:512")
    changed = settings_changed(recorded("default"), recorded(str(both)))
    assert is_proven(both, changed)
    assert not is_proven(both.without_chunks, changed)
    assert set(changed) == {"cache_implementation", "cache_config", "prefill_chunk_size"}


def test_nothing_changed_proves_no_change() -> None:
    assert not is_proven(Strategy.parse("static"), {})
    assert is_proven(BASELINE, {})


def test_a_change_says_the_values_on_both_sides() -> None:
    changed = settings_changed({"a": 1, "b": 2}, {"a": 1, "b": 3, "c": 4})
    assert changed == {"b": {"baseline": 2, "change": 3}, "c": {"baseline": None, "change": 4}}


def test_a_run_says_what_each_change_changed() -> None:
    run = answered(World(asked=question(strategies=strategies(*CHANGES)), record=record()))
    for change in run.stages["changes"]:
        assert change["one_change_proven"]
        assert is_proven(Strategy.parse(change["strategy"]), change["settings_changed"])


def test_a_strategy_that_brings_a_second_change_is_not_compared() -> None:
    def settings(strategy: Strategy, answer_tokens: int) -> dict[str, Any]:
        return World.recorded(strategy, answer_tokens) | {"do_sample": strategy != BASELINE}

    world = World(asked=question(strategies=strategies("static")), record=record(), settings=settings)
    change = answered(world).change("static")
    assert change["applicable"] is False
    assert "do_sample" in change["reason"]
