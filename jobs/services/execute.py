"""Answers one claimed run: asks the procedure, keeps what it tells, and ends in a terminal state whatever happens."""

import logging
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.db import InterfaceError, OperationalError, connection

from jobs.models import Run, RunState
from jobs.procedure.events import Event, EventKind
from jobs.procedure.measurement import Bench, Cancelled
from jobs.procedure.question import Question
from jobs.procedure.run import answer
from jobs.running.bench import ProcessBench
from jobs.running.inspection import inspect_model
from jobs.selectors.prompt_set import prompts_of
from jobs.services.beating import beating
from jobs.services.claim import Claim, run_give_back
from jobs.services.inspection import Inspect, record_for
from jobs.services.measuring import measuring_process, measuring_start
from jobs.services.memory import Memory, RememberingBench
from jobs.services.presentable import presentable
from jobs.services.record import LeaseLost, event_record, held_by
from jobs.services.run_state import run_move
from jobs.services.watch import Watch
from jobs.sizing.model_spec import ModelSpec
from jobs.sizing.record import InspectionRecord
from jobs.sizing.refusal import Refusal

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Tools:
    """What answers: the procedure, and the processes that measure and inspect."""

    answer: Callable[[Question, InspectionRecord, Bench], Iterator[Event]] = answer
    bench: Callable[..., AbstractContextManager[Bench]] = ProcessBench
    inspect: Inspect = inspect_model
    process: Callable[..., AbstractContextManager[Any]] = measuring_process


def run_execute(*, claim: Claim, tools: Tools | None = None) -> bool:
    """Until the run is done, failed, cancelled or no longer ours: then False. Nothing is raised but a lost database."""
    try:
        with beating(run_id=claim.run_id, lease=claim.lease):
            _execute(claim, tools or Tools())
    except LeaseLost:
        logger.warning("run %s was taken away; stopped measuring and writing", claim.run_id)
        return False
    except Cancelled:
        return _finish(claim, RunState.CANCELLED, "Cancelled; the measuring process has ended.")
    except Refusal as refusal:
        return _fail(claim, refusal)
    except (OperationalError, InterfaceError):
        logger.exception("run %s lost the database", claim.run_id)
        connection.close()
        run_give_back(run=Run.objects.get(pk=claim.run_id), why="Its worker lost the database")
        return False
    except Exception:
        logger.exception("run %s failed", claim.run_id)
        return _fail(claim, _unforeseen())
    return _finish(claim, RunState.DONE, "Done.")


def _execute(claim: Claim, tools: Tools) -> None:
    run = Run.objects.select_related("model_entry", "worker").get(pk=claim.run_id)
    question = Question.from_json(run.question)
    prompts = prompts_of(question)
    watch = Watch(run_id=claim.run_id, lease=claim.lease)
    memory = Memory.of(run)

    def keep(event: Event) -> None:
        event_record(run_id=claim.run_id, lease=claim.lease, event=event)

    def tell(message: str) -> None:
        keep(Event(kind=EventKind.LOG, data={"message": message}))

    record = _record(run, question, tools, watch, tell)
    spec = ModelSpec.from_json(run.model_entry.spec)
    start = partial(measuring_start, cards=run.worker.cards if run.worker else {})
    with tools.bench(spec=spec, question=question, prompts=prompts, cancelled=watch, tell=tell, start=start) as bench:
        remembering = RememberingBench(bench=bench, memory=memory, tell=tell)
        for event in tools.answer(question, record, remembering):
            if not memory.knows(event):
                keep(event)
            if watch():
                raise Cancelled


def _record(run: Run, question: Question, tools: Tools, watch: Watch, tell: Callable[[str], None]) -> InspectionRecord:
    def inspect(spec: ModelSpec, **how: Any) -> InspectionRecord:
        tell("Inspecting the model: its layers, weights and cache, without loading it.")
        with tools.process(cancelled=watch) as process:
            return tools.inspect(spec, process=process, cancelled=watch, tell=tell, **how)

    versions = run.worker.versions if run.worker else {}
    return record_for(entry=run.model_entry, question=question, versions=versions, inspect=inspect)


def _finish(claim: Claim, state: RunState, message: str, **changes: Any) -> bool:
    moved = run_move(run_id=claim.run_id, to=state, when=held_by(claim.lease), message=message, **changes)
    if not moved:
        logger.warning("run %s was taken away; stopped measuring and writing", claim.run_id)
    return moved


def _fail(claim: Claim, refusal: Refusal) -> bool:
    error = presentable(refusal.as_json(), words=True)
    return _finish(claim, RunState.FAILED, error["message"], error=error)


def _unforeseen() -> Refusal:
    return Refusal(
        "internal",
        "The run stopped for a reason that was not foreseen.",
        "The worker's log has the details. Run it again; if it stops again, report it with that log.",
    )
