"""What a finished run left behind for questions that were not measured."""

from jobs.models import Run, RunState
from jobs.procedure.measurement import Measurement
from jobs.procedure.question import Question
from jobs.procedure.what_if import Finished
from jobs.selectors.model_entry import record_of
from jobs.selectors.run import measurements_of
from jobs.sizing.stored import AS_STORED, with_weights
from jobs.sizing.strategy import Strategy


def finished_of(run: Run) -> Finished | None:
    """None: it has no answer, or its model's record is gone (it is being read again)."""
    budgets, record = run.stages.get("budgets"), record_of(run.profile.model_entry)
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
