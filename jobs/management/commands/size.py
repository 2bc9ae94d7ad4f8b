"""`manage.py size MODEL`: weights, KV cache and peak memory of a model, without its weights or a device."""

import json
from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser

from jobs.management.answering_command import AnsweringCommand
from jobs.management.size_arguments import Asked, add_arguments, asked_of
from jobs.management.size_text import size_text
from jobs.running.inspection import deaths_refused, inspect_model
from jobs.running.kept_records import KeptRecords
from jobs.running.model_source import resolve_model
from jobs.running.process import MeasuringProcess
from jobs.sizing.budgets import SizedPoint, size_point, weights_bytes
from jobs.sizing.layer_counts import layer_counts, window_tokens
from jobs.sizing.model_spec import ModelSpec
from jobs.sizing.record import InspectionRecord
from jobs.sizing.stored import stored_json, with_weights
from jobs.sizing.strategy import BASELINE


class Command(AnsweringCommand):
    help = "Tell how much memory a model's weights, KV cache and passes take, from its config alone."

    def add_arguments(self, parser: CommandParser) -> None:
        add_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        asked = asked_of(options)
        spec = resolve_model(asked.model, models_dir=settings.MODELS_DIR, any_folder=True)
        record = with_weights(self._record(spec, asked), asked.weights)
        points = [
            size_point(
                record,
                tokens=tokens,
                sequences=asked.sequences,
                dtype=asked.dtype,
                strategy=asked.strategy,
                attention=asked.attention,
                padded=asked.padded,
            )
            for tokens in asked.tokens
        ]
        answer = answer_json(record, asked, points)
        self.stdout.write(json.dumps(answer) if options["json"] else size_text(answer))

    def _record(self, spec: ModelSpec, asked: Asked) -> InspectionRecord:
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


def _inspected(spec: ModelSpec, asked: Asked) -> InspectionRecord:
    with deaths_refused(spec), MeasuringProcess(python=settings.MEASURING_PYTHON) as process:
        return inspect_model(
            spec,
            dtypes=(asked.dtype,),
            strategies=(str(asked.strategy),),
            attention=asked.attention,
            padded=(asked.padded,),
            process=process,
        )


def answer_json(record: InspectionRecord, asked: Asked, points: list[SizedPoint]) -> dict[str, Any]:
    """The command's answer; bytes and tokens."""
    return {
        "model": record.model,
        "model_type": record.model_type,
        "architecture": record.architecture,
        "transformers": record.versions["transformers"],
        "dtype": asked.dtype,
        "kernels": "cpu",  # whose passes the working memory is of
        "parameters": record.parameters,
        "weights_bytes": weights_bytes(record, asked.dtype),
        "weights": stored_json(record, asked.dtype),
        "native_context": record.native_context,
        "layers": layer_counts(record),
        "window_tokens": window_tokens(record),
        "points": [_point_json(point, record.native_context) for point in points],
    }


def _point_json(point: SizedPoint, native_context: int | None) -> dict[str, Any]:
    beyond = native_context is not None and point.tokens > native_context
    return point.as_json() | {"beyond_native_context": beyond}
