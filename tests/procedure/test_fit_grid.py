from dataclasses import replace

import pytest

from jobs.procedure.fit_grid import COLUMNS, ROWS, fit_grid, grid_contexts, grid_sequences
from jobs.procedure.measurement import Measurement, Outcome
from jobs.procedure.question import Question
from jobs.procedure.what_if import Conditions, Finished, Fit
from jobs.sizing.strategy import BASELINE, Strategy
from jobs.sizing.units import MIB
from tests.procedure.worlds import record, strategies

HQQ_4 = Strategy.parse("quantized:hqq:4")


def finished(**changes: int) -> Finished:
    asked = {"prompt_tokens": 4096, "typical_prompt_tokens": 1024, "answer_tokens": 256} | changes
    question = Question(model="m", strategies=strategies("quantized:hqq:4"), headroom_percent=0, **asked)  # type: ignore[arg-type]
    read = record(native_context=8192)
    blank = Measurement(
        strategy="default",
        context=1280,
        prompt=1024,
        answer=256,
        sequences=question.sequences,
        outcome=Outcome.OK,
        peak_bytes=300 * MIB,
    )
    measured = (blank, replace(blank, context=2304, prompt=2048, peak_bytes=330 * MIB))
    return Finished(
        question=question,
        record=read,
        weights_bytes=read.weights_bytes["bfloat16"],
        capacity_bytes=400 * MIB,
        measurements=measured,
        strategies=(HQQ_4,),
    )


def test_a_cell_says_what_the_same_conditions_say_asked_one_by_one() -> None:
    run = finished()
    grid = fit_grid(run, HQQ_4, 340 * MIB)
    for row in grid.rows[::3]:
        for cell in row[::5]:
            asked = Conditions(
                prompt_tokens=cell.context - 256,
                sequences=cell.sequences,
                headroom_percent=0,
                capacity_bytes=340 * MIB,
            )
            told = next(one for one in run.what_if(asked) if one.strategy == HQQ_4)
            assert (told.peak_bytes, told.band_bytes, told.fit) == (cell.peak_bytes, cell.band_bytes, cell.fit)


def test_more_sequences_or_context_never_fit_where_fewer_do_not() -> None:
    order = {Fit.YES: 0, Fit.UNSURE: 1, Fit.NO: 2, Fit.BEYOND: 3}
    grid = fit_grid(finished(), BASELINE, 400 * MIB)
    ranks = [[order[cell.fit] for cell in row] for row in grid.rows]
    assert {rank for row in ranks for rank in row} == {0, 1, 2, 3}
    assert all(row == sorted(row) for row in ranks)
    assert all(list(column) == sorted(column) for column in zip(*ranks, strict=True))


def test_the_cells_are_the_same_whatever_the_budget() -> None:
    run = finished()
    small, large = fit_grid(run, BASELINE, 260 * MIB), fit_grid(run, BASELINE, 10**15)
    assert (small.contexts, small.sequences) == (large.contexts, large.sequences)
    assert [cell.peak_bytes for row in small.rows for cell in row] == [
        cell.peak_bytes for row in large.rows for cell in row
    ]
    assert {cell.fit for row in large.rows for cell in row} == {Fit.YES, Fit.BEYOND}
    assert {cell.fit for row in small.rows for cell in row} >= {Fit.NO, Fit.BEYOND}


def test_beyond_what_the_model_reads_nothing_is_said_to_fit() -> None:
    grid = fit_grid(finished(), BASELINE, 10**15)
    assert grid.contexts[-1] > 8192
    assert all((cell.fit is Fit.BEYOND) == (cell.context > 8192) for row in grid.rows for cell in row)


@pytest.mark.parametrize("own", [1, 3, 8, 100, 4095, 4096])
def test_the_rows_have_the_runs_own_number_of_sequences(own: int) -> None:
    rows = grid_sequences(own)
    assert len(rows) == ROWS
    assert own in rows
    assert list(rows) == sorted(set(rows))


@pytest.mark.parametrize(
    "changes", [{}, {"prompt_tokens": 4, "answer_tokens": 8000}, {"prompt_tokens": 4, "answer_tokens": 1}]
)
def test_contexts_rise_and_have_prompts_that_are_measured(changes: dict[str, int]) -> None:
    run = finished(**changes)
    contexts = grid_contexts(run)
    assert 1 <= len(contexts) <= COLUMNS
    assert list(contexts) == sorted(set(contexts))
    prompts = [context - run.question.answer_tokens for context in contexts]
    assert all(prompt >= 4 and prompt % 4 == 0 for prompt in prompts)
