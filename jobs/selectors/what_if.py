"""What a finished run left behind for questions that were not measured."""

from datetime import datetime
from functools import lru_cache

from jobs.models import Run, RunState
from jobs.procedure.measurement import Measurement
from jobs.procedure.question import Question
from jobs.procedure.what_if import Finished
from jobs.selectors.model_entry import record_of
from jobs.selectors.run import measurements_of, run_get
from jobs.sizing.stored import AS_STORED, with_weights
from jobs.sizing.strategy import Strategy

MOST_KEPT = 32  # with the figures that each was asked for


def finished_of(run: Run) -> Finished | None:
    """None: it has no answer, or its model's record is gone (it is being read again).

    What was found is remembered, and its figures with it, as long as neither the run nor the record is another.
    """
    read_at = run.model_entry.inspected_at
    if run.state != RunState.DONE or run.finished_at is None or read_at is None:
        return _found(run)
    return _kept(run.pk, run.finished_at, read_at)


@lru_cache(maxsize=MOST_KEPT)
def _kept(pk: int, finished_at: datetime, read_at: datetime) -> Finished | None:
    return _found(run_get(pk))


def _found(run: Run) -> Finished | None:
    budgets, record = run.stages.get("budgets"), record_of(run.model_entry)
    if run.state != RunState.DONE or not budgets or record is None:
        return None
    question = Question.from_json(run.question)
    if question.weights != AS_STORED and question.weights not in record.on_the_fly:
        return None  # it was read anew, and is packed otherwise now
    return Finished(
        question=question,
        record=with_weights(record, question.weights),
        weights_bytes=budgets["weights"]["measured_bytes"],
        capacity_bytes=budgets["capacity_bytes"],
        measurements=tuple(Measurement.from_json(row) for row in measurements_of(run)),
        strategies=tuple(
            Strategy.parse(change["strategy"]) for change in run.stages.get("changes") or () if change["applicable"]
        ),
    )
