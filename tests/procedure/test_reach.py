"""How far each strategy would reach, and which device a question needs."""

import time
from dataclasses import replace

import pytest

from jobs.procedure.device_reach import device_reaches, device_sequences, smallest_strategy
from jobs.procedure.estimate import Estimator
from jobs.procedure.question_check import MOST_SEQUENCES, MOST_TOKENS
from jobs.procedure.reach import Ends, reach
from jobs.sizing.record import LayerGroup, LayerKind
from jobs.sizing.refusal import Refusal
from jobs.sizing.strategy import BASELINE, Strategy
from jobs.sizing.units import GIB, MIB
from tests.procedure.worlds import WEIGHTS_BYTES, question, record

BUDGET_BYTES = 400 * MIB


def parsed(name: str) -> Strategy:
    return Strategy.parse(name)


@pytest.mark.parametrize("name", ["default", "static", "offloaded", "quantized:hqq:4", "chunked:512"])
def test_the_longest_context_fits_and_the_next_prompt_does_not(name: str) -> None:
    asked = question()
    found = reach(asked, record(), parsed(name), BUDGET_BYTES)
    assert found.context_tokens is not None
    prompt = found.context_tokens - asked.answer_tokens
    estimator = Estimator.of(asked, record(), parsed(name))
    assert estimator.at(prompt).peak_bytes <= BUDGET_BYTES < estimator.at(prompt + 4).peak_bytes
    assert (found.ends, found.fits) == (Ends.MEMORY, True)
    assert found.peak_bytes == estimator.at(asked.prompt_tokens).peak_bytes


def test_the_model_s_own_maximum_ends_what_memory_does_not() -> None:
    found = reach(question(answer_tokens=30), record(native_context=2050), BASELINE, 64 * GIB)
    assert (found.context_tokens, found.ends) == (2020 + 30, Ends.NATIVE_CONTEXT)


def test_an_answer_as_long_as_the_model_reads_leaves_no_prompt() -> None:
    found = reach(question(answer_tokens=2050), record(native_context=2050), BASELINE, 64 * GIB)
    assert (found.context_tokens, found.ends) == (None, Ends.NATIVE_CONTEXT)


def test_constant_state_reaches_as_far_as_a_question_may_ask() -> None:
    state = (LayerGroup(kind=LayerKind.FIXED, count=2, state_elements=100),)
    found = reach(question(), record(layers=state), BASELINE, 2**50)
    assert (found.context_tokens, found.ends) == (MOST_TOKENS + 32, Ends.QUESTION)


def test_weights_that_do_not_fit_leave_nothing() -> None:
    found = reach(question(), record(), BASELINE, WEIGHTS_BYTES)
    assert (found.context_tokens, found.ends, found.fits) == (None, Ends.NOTHING, False)


def test_a_strategy_that_the_model_cannot_take_gives_the_reason_and_no_figure() -> None:
    refusals = {"quantized": "Not all of its layers are full attention."}
    for name in ("quantized:hqq:4", "quantized:quanto:2", "quantized:hqq:4+chunked:512"):
        found = reach(question(), record(refusals=refusals), parsed(name), BUDGET_BYTES)
        assert (found.ends, found.reason) == (Ends.REFUSED, "Not all of its layers are full attention.")
        assert (found.context_tokens, found.peak_bytes, found.fits) == (None, None, None)


def test_a_strategy_without_passes_is_unread_and_has_no_figure() -> None:
    found = reach(question(), record(), parsed("quantized:hqq:2"), BUDGET_BYTES)
    assert (found.ends, found.context_tokens, found.peak_bytes) == (Ends.UNREAD, None, None)


def test_a_combination_without_passes_of_its_own_is_put_together_from_its_parts() -> None:
    both = reach(question(), record(), parsed("static+chunked:512"), BUDGET_BYTES)
    assert (both.from_parts, both.ends) == (True, Ends.MEMORY)
    within_a_chunk = reach(question(prompt_tokens=64), record(), parsed("static+chunked:512"), BUDGET_BYTES)
    assert (within_a_chunk.from_parts, within_a_chunk.context_tokens) == (True, both.context_tokens)
    assert not reach(question(), record(), parsed("quantized:hqq:4+chunked:512"), BUDGET_BYTES).from_parts
    unread = reach(question(), record(), parsed("static+chunked:256"), BUDGET_BYTES)
    assert (unread.ends, unread.from_parts) == (Ends.UNREAD, False)


def test_offloading_tells_the_cpu_ram_of_its_longest_context() -> None:
    found = reach(question(), record(), parsed("offloaded"), BUDGET_BYTES)
    assert found.context_tokens is not None
    assert found.host_bytes == (found.context_tokens - 1) * 23_040
    assert reach(question(), record(), BASELINE, BUDGET_BYTES).host_bytes == 0


def test_a_device_s_context_and_sequences_fit_and_one_more_does_not() -> None:
    asked = question(headroom_percent=10, capacity_bytes=1, sequences=2)
    (found,) = device_reaches(asked, record(), [2 * GIB])
    budget = 2 * GIB - round(2 * GIB * 0.1)
    assert found.context_tokens is not None
    prompt = found.context_tokens - asked.answer_tokens
    at = Estimator.of(asked, record(), BASELINE).at
    assert at(prompt).peak_bytes <= budget < at(prompt + 4).peak_bytes

    def peak(sequences: int) -> int:
        return Estimator.of(asked, record(), BASELINE, sequences).at(asked.prompt_tokens).peak_bytes

    (sequences,) = device_sequences(asked, record(), [2 * GIB])
    assert peak(sequences) <= budget < peak(sequences + 1)
    assert found.fits == (sequences >= 2)


def test_devices_searched_together_are_as_each_alone() -> None:
    sizes = [WEIGHTS_BYTES, 300 * MIB, 700 * MIB, 3 * GIB, 80 * GIB]
    together = device_reaches(question(), record(native_context=8192), sizes)
    alone = [device_reaches(question(), record(native_context=8192), [size])[0] for size in sizes]
    assert list(together) == alone
    assert [found.weights_bytes < found.budget_bytes for found in together] == [False, True, True, True, True]
    assert together[-1].ends == Ends.NATIVE_CONTEXT


def test_a_device_carries_no_more_sequences_than_may_be_asked() -> None:
    found = device_sequences(question(prompt_tokens=4, answer_tokens=1), record(), [2**49])
    assert found == (MOST_SEQUENCES,)


def test_a_strategy_reaches_as_far_on_a_device_as_in_so_many_bytes() -> None:
    for name in ("quantized:hqq:4", "chunked:512", "static+chunked:512"):
        (found,) = device_reaches(question(), record(), [BUDGET_BYTES], parsed(name))
        alone = reach(question(), record(), parsed(name), BUDGET_BYTES)
        assert (found.context_tokens, found.ends, found.fits) == (alone.context_tokens, alone.ends, alone.fits)


def test_the_strategy_that_needs_least_is_the_smallest_of_those_read_and_possible() -> None:
    tried = [parsed(name) for name in ("quantized:hqq:2", "quantized:hqq:8", "quantized:hqq:4", "static")]
    assert smallest_strategy(question(), record(), tried) == parsed("quantized:hqq:4")
    assert smallest_strategy(question(), record(refusals={"quantized": "No."}), tried) is None
    assert smallest_strategy(question(), record(), []) is None


def test_devices_need_the_passes_of_the_normal_cache() -> None:
    with pytest.raises(Refusal, match="holds no peak"):
        device_reaches(question(), replace(record(), rungs=()), [GIB])


def test_ten_strategies_and_twenty_devices_take_a_fraction_of_a_second() -> None:
    """Measured at about 20 ms; the bound leaves room for a busy machine, and none for a search gone wild."""
    asked, of = question(), record(native_context=131_072)
    names = ("default", "static", "offloaded", "offloaded_static", "quantized:hqq:8", "quantized:hqq:4", "chunked:512")
    began_s = time.process_time()
    for name in names:
        reach(asked, of, parsed(name), 20 * GIB)
    sizes = [size * GIB for size in range(1, 21)]
    device_reaches(asked, of, sizes)
    device_reaches(asked, of, sizes, parsed("quantized:hqq:4"))
    device_sequences(asked, of, sizes)
    assert time.process_time() - began_s < 0.25
