"""`manage.py profile MODEL --prompt N --answer N`: the whole procedure in the foreground."""

import json
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser
from django.utils import timezone

from jobs.exports.run_json import answer_json
from jobs.management.answer_keeping import kept_where, prepare_database
from jobs.management.answering_command import FAILED, INTERRUPTED, AnsweringCommand
from jobs.management.profile_arguments import add_arguments, question_of, refuse_device
from jobs.management.profile_text import answer_text
from jobs.management.progress import Progress
from jobs.management.prompts_file import CountedPrompts, read_prompts_file
from jobs.procedure.events import Event, EventKind
from jobs.procedure.measurement import Cancelled
from jobs.procedure.own_prompts import OwnPrompts
from jobs.procedure.question import Question
from jobs.procedure.question_check import refuse_impossible
from jobs.procedure.run import answer
from jobs.running.bench import ProcessBench
from jobs.running.devices import cards_of
from jobs.running.inspection import deaths_refused, inspect_model
from jobs.running.kept_records import KeptRecords
from jobs.running.model_source import resolve_model
from jobs.running.process import MeasuringProcess
from jobs.running.prompt_counting import count_prompts
from jobs.sizing.model_spec import ModelSpec
from jobs.sizing.record import InspectionRecord
from jobs.sizing.refusal import Refusal
from jobs.sizing.strategy import BASELINE


class Interrupt:
    """Set by Ctrl-C; whatever measures asks it a few times a second and ends its process."""

    def __init__(self) -> None:
        self.asked = False

    def __call__(self) -> bool:
        return self.asked

    def set(self, *_: object) -> None:
        self.asked = True


@dataclass(kw_only=True)
class Told:
    """What the events of a run add up to."""

    stages: dict[str, Any] = field(default_factory=dict)
    measurements: list[Mapping[str, Any]] = field(default_factory=list)
    device: Mapping[str, Any] = field(default_factory=dict)
    environment: Mapping[str, Any] = field(default_factory=dict)
    error: dict[str, str] | None = None

    def hear(self, event: Event) -> None:
        match event.kind:
            case EventKind.LOADED:
                self.device, self.environment = event.data["device"], event.data["environment"]
            case EventKind.MEASUREMENT:
                self.measurements.append(event.data)
            case EventKind.STAGE_FINISHED:
                self.stages[event.data["stage"]] = event.data["result"]


class Command(AnsweringCommand):
    help = "Find out by measuring how much context a model can be given on a device, and with which cache strategy."

    def add_arguments(self, parser: CommandParser) -> None:
        add_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        started_at = timezone.now()
        own = None if options["prompts"] is None else read_prompts_file(options["prompts"])
        question_of(options, prompts=CountedPrompts(own=own) if own else None)  # all flags, before the model is read
        if options["save"]:
            prepare_database()
        interrupt = Interrupt()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, interrupt.set)
        progress = Progress(stream=sys.stderr)
        spec = resolve_model(options["model"], models_dir=settings.MODELS_DIR, any_folder=True)
        try:
            with _reading(spec, interrupt) as process:
                prompts = _counted(spec, own, process, interrupt, progress) if own else None
                question = question_of(options, prompts=prompts)
                record = _inspected(spec, question, process, interrupt, progress)
                cards = cards_of(question.device, process.hello["devices"])
            told = _answered(spec, question, record, own, cards, interrupt, progress)
        except Cancelled:
            progress.done()
            self.stderr.write("Stopped; the measuring process has ended.")
            sys.exit(INTERRUPTED)
        run_id = None
        if options["save"] and not told.error:
            _keep_prompts(options["prompts"], own)
            run_id = _kept(options["save"], spec, question, record, told, started_at)
            progress.say(f"Kept as “{options['save']}” in {kept_where()}: /runs/{run_id}/")
        self._say(told, run_id, prompts, as_json=options["json"])
        if told.error:
            sys.exit(FAILED)

    def _say(self, told: Told, run_id: int | None, prompts: CountedPrompts | None, *, as_json: bool) -> None:
        if as_json:
            self.stdout.write(json.dumps(_run_json(told, run_id) | ({"prompts": prompts.as_json()} if prompts else {})))
        elif told.error:
            self.stderr.write(f"The run failed. {told.error['message']} {told.error['hint']}".rstrip())
        else:
            self.stdout.write(answer_text(told.stages))


@contextmanager
def _reading(spec: ModelSpec, interrupt: Interrupt) -> Iterator[MeasuringProcess]:
    """The process that reads the model: its tokenizer and its layers."""
    with deaths_refused(spec), MeasuringProcess(python=settings.MEASURING_PYTHON, cancelled=interrupt) as process:
        yield process


def _counted(
    spec: ModelSpec, own: OwnPrompts, process: MeasuringProcess, interrupt: Interrupt, progress: Progress
) -> CountedPrompts:
    progress.tell("counting the prompts' tokens")
    lengths = count_prompts(spec, own.texts, process=process, cancelled=interrupt, tell=progress.tell)
    prompts = CountedPrompts(own=own, lengths=lengths)
    progress.done()
    for line in prompts.lines():
        progress.say(line)
    return prompts


def _inspected(
    spec: ModelSpec, question: Question, process: MeasuringProcess, interrupt: Interrupt, progress: Progress
) -> InspectionRecord:
    progress.tell("reading the model's layers")
    strategies = tuple(dict.fromkeys((BASELINE, *question.strategies)))
    refuse_device(question, process.hello["devices"])
    inspect = partial(
        inspect_model,
        spec,
        dtypes=(question.dtype,),
        strategies=tuple(map(str, strategies)),
        attention=question.attention,
        cancelled=interrupt,
        tell=progress.tell,
        process=process,
    )
    record = KeptRecords(settings.RECORDS_DIR, python=settings.MEASURING_PYTHON).serve(
        spec,
        dtype=question.dtype,
        strategies=strategies,
        attention=question.attention,
        inspect=inspect,
        tell=progress.tell,
    )
    refuse_impossible(question, record)
    return record


def _answered(
    spec: ModelSpec,
    question: Question,
    record: InspectionRecord,
    own: OwnPrompts | None,
    cards: Mapping[str, str],
    interrupt: Interrupt,
    progress: Progress,
) -> Told:
    """A refusal before the model was loaded goes through; one after it is the run's failure."""
    told = Told()
    try:
        with ProcessBench(
            spec=spec,
            question=question,
            prompts=own,
            cancelled=interrupt,
            tell=progress.tell,
            start=partial(MeasuringProcess, python=settings.MEASURING_PYTHON, cards=cards),
        ) as bench:
            for event in answer(question, record, bench):
                told.hear(event)
                progress.event(event)
    except Refusal as refusal:
        if not told.device:
            raise
        told.error = refusal.as_json()
    finally:
        progress.done()
    return told


def _keep_prompts(file_name: str | None, own: OwnPrompts | None) -> None:
    """What is kept can be measured again, with the same prompts."""
    from jobs.services.prompt_set import prompt_set_save

    if own:
        prompt_set_save(user=None, name=Path(file_name or "").name, prompts=own)


def _kept(
    name: str, spec: ModelSpec, question: Question, record: InspectionRecord, told: Told, started_at: datetime
) -> int:
    from jobs.services.keep import run_keep

    run = run_keep(
        name=name,
        spec=spec,
        question=question,
        record=record,
        stages=told.stages,
        measurements=told.measurements,
        device=told.device,
        environment=told.environment,
        started_at=started_at,
    )
    return int(run.pk)


def _run_json(told: Told, run_id: int | None) -> dict[str, Any]:
    return answer_json(
        run=run_id,
        state="failed" if told.error else "done",
        error=told.error,
        environment=told.environment,
        device=told.device,
        stages=told.stages,
    )
