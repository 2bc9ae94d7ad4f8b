"""`manage.py size MODEL`: weights, KV cache and peak memory of a model, without its weights or a device."""

import json
from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser

from jobs.management.answering_command import AnsweringCommand
from jobs.management.size_arguments import add_arguments
from jobs.management.size_text import size_text
from jobs.running.inspection import deaths_refused, inspect_model
from jobs.running.kept_records import KeptRecords
from jobs.running.model_source import resolve_model
from jobs.running.process import MeasuringProcess
from jobs.sizing.model_spec import ModelSpec
from jobs.sizing.record import InspectionRecord
from jobs.sizing.size_question import SizeQuestion, size_answer, size_question
from jobs.sizing.strategy import BASELINE


class Command(AnsweringCommand):
    help = "Tell how much memory a model's weights, KV cache and passes take, from its config alone."

    def add_arguments(self, parser: CommandParser) -> None:
        add_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        asked = size_question(options, flag="--")
        spec = resolve_model(asked.model, models_dir=settings.MODELS_DIR, any_folder=True)
        answer = size_answer(self._record(spec, asked), asked)
        self.stdout.write(json.dumps(answer) if options["json"] else size_text(answer))

    def _record(self, spec: ModelSpec, asked: SizeQuestion) -> InspectionRecord:
        def inspect() -> InspectionRecord:
            return _inspected(spec, asked)

        return KeptRecords(settings.RECORDS_DIR, python=settings.MEASURING_PYTHON).serve(
            spec,
            dtype=asked.dtype,
            strategies=(BASELINE, asked.strategy),
            attention=asked.attention,
            padded=asked.padded,
            fresh=asked.fresh,
            inspect=inspect,
            tell=self.stderr.write,
        )


def _inspected(spec: ModelSpec, asked: SizeQuestion) -> InspectionRecord:
    with deaths_refused(spec), MeasuringProcess(python=settings.MEASURING_PYTHON) as process:
        return inspect_model(
            spec,
            dtypes=(asked.dtype,),
            strategies=(str(asked.strategy),),
            attention=asked.attention,
            padded=(asked.padded,),
            process=process,
        )
