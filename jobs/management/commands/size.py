"""`manage.py size MODEL`: weights, KV cache and peak memory of a model, without its weights or a device."""

import json
from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser

from jobs.management.answering_command import AnsweringCommand
from jobs.management.size_arguments import Asked, add_arguments, asked_of
from jobs.management.size_text import size_text
from jobs.running.inspection import inspect_model
from jobs.running.model_source import resolve_model
from jobs.running.process import MeasuringProcess, ProcessDied, ProcessHung
from jobs.sizing.budgets import SizedPoint, size_point, weights_bytes
from jobs.sizing.layer_counts import layer_counts, window_tokens
from jobs.sizing.model_spec import ModelSpec
from jobs.sizing.record import InspectionRecord
from jobs.sizing.refusal import Refusal


class Command(AnsweringCommand):
    help = "Tell how much memory a model's weights, KV cache and passes take, from its config alone."

    def add_arguments(self, parser: CommandParser) -> None:
        add_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        asked = asked_of(options)
        spec = resolve_model(asked.model, models_dir=settings.MODELS_DIR, any_folder=True)
        record = _inspected(spec, asked)
        points = [
            size_point(record, tokens=tokens, sequences=asked.sequences, dtype=asked.dtype, strategy=asked.strategy)
            for tokens in asked.tokens
        ]
        answer = answer_json(record, asked, points)
        self.stdout.write(json.dumps(answer) if options["json"] else size_text(answer))


def _inspected(spec: ModelSpec, asked: Asked) -> InspectionRecord:
    try:
        with MeasuringProcess(python=settings.MEASURING_PYTHON) as process:
            return inspect_model(
                spec,
                dtypes=(asked.dtype,),
                sequences=(asked.sequences,),
                tokens=asked.tokens,
                strategies=(str(asked.strategy),),
                process=process,
            )
    except (ProcessDied, ProcessHung) as death:
        raise Refusal(
            "not_inspected",
            f"The process that reads “{spec.name}” ended without an answer ({death}).",
            "Try again; if it ends again, the model needs more memory to be read than this machine has.",
        ) from death


def answer_json(record: InspectionRecord, asked: Asked, points: list[SizedPoint]) -> dict[str, Any]:
    """The command's answer; bytes and tokens."""
    return {
        "model": record.model,
        "model_type": record.model_type,
        "architecture": record.architecture,
        "transformers": record.versions["transformers"],
        "dtype": asked.dtype,
        "parameters": record.parameters,
        "weights_bytes": weights_bytes(record, asked.dtype),
        "native_context": record.native_context,
        "layers": layer_counts(record),
        "window_tokens": window_tokens(record),
        "points": [point.as_json() for point in points],
    }
