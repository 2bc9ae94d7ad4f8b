"""The whole procedure: four stages, each told as it starts and ends."""

from collections.abc import Generator, Iterator
from typing import Any, TypeVar

from jobs.procedure.baseline import baseline
from jobs.procedure.budgets import begin, budgets
from jobs.procedure.changes import changes, tried
from jobs.procedure.events import Event, EventKind, Stage
from jobs.procedure.limit import limit
from jobs.procedure.measurement import Bench
from jobs.procedure.question import Question
from jobs.procedure.question_check import refuse_impossible
from jobs.sizing.record import InspectionRecord
from jobs.sizing.stored import with_weights

Result = TypeVar("Result")


def answer(question: Question, record: InspectionRecord, bench: Bench) -> Iterator[Event]:
    """Ask the bench for measurements and yield every event in order; a STAGE_FINISHED carries its stage's result.

    Raises Refusal: before anything is loaded where the question cannot be answered, "baseline_failed" where not
    even a short context runs, and whatever the bench refuses. Cancelled goes through.
    """
    refuse_impossible(question, record)
    record = with_weights(record, question.weights)
    if bench.downloads:
        yield _started(Stage.DOWNLOAD)
        yield _finished(Stage.DOWNLOAD, dict(bench.fetch()))
    yield _started(Stage.BUDGETS)
    evidence = yield from begin(question, record, bench)
    yield _finished(Stage.BUDGETS, (yield from budgets(evidence)))
    base = yield from _stage(Stage.BASELINE, baseline(evidence))
    changed = yield from _stage(Stage.CHANGES, changes(evidence, memory_limits=base["memory_limits"]))
    yield from _stage(Stage.LIMIT, limit(evidence, tried(changed)))


def _stage(stage: Stage, work: Generator[Event, None, Result]) -> Generator[Event, None, Result]:
    yield _started(stage)
    result = yield from work
    yield _finished(stage, result)
    return result


def _started(stage: Stage) -> Event:
    return Event(kind=EventKind.STAGE_STARTED, data={"stage": str(stage)})


def _finished(stage: Stage, result: Any) -> Event:
    return Event(kind=EventKind.STAGE_FINISHED, data={"stage": str(stage), "result": result})
