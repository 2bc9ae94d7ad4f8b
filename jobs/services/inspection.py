"""The record of a model's inspection, made once for each precision and strategy and kept with the model."""

from collections.abc import Callable, Mapping
from typing import Any

from django.utils import timezone

from jobs.models import EntryState, ModelEntry
from jobs.procedure.question import Question
from jobs.sizing.budgets import refusal_of
from jobs.sizing.model_spec import ModelSpec
from jobs.sizing.record import InspectionRecord, PeakRung, Phase
from jobs.sizing.strategy import BASELINE, Strategy
from jobs.sizing.working import rung_name

Inspect = Callable[..., InspectionRecord]


def record_for(
    *, entry: ModelEntry, question: Question, versions: Mapping[str, str], inspect: Inspect, **how: Any
) -> InspectionRecord:
    """The kept record where it serves this question and these library versions; else a new pass, which is kept.

    `how` goes to `inspect` (jobs.running.inspection.inspect_model): cancelled, process.
    """
    kept = InspectionRecord.from_json(entry.record) if entry.record else None
    if kept is not None and _is_of(kept, versions) and _covers(kept, question):
        return kept
    record = inspect(
        ModelSpec.from_json(entry.spec),
        dtypes=(question.dtype,),
        sequences=(question.sequences,),
        strategies=tuple(dict.fromkeys([str(BASELINE), *map(str, question.strategies)])),
        attention=question.attention,
        **how,
    )
    return record_keep(entry=entry, record=record)


def record_keep(*, entry: ModelEntry, record: InspectionRecord) -> InspectionRecord:
    """Keep it, with what an earlier pass of the same libraries over the same config found beside it."""
    kept = InspectionRecord.from_json(entry.record) if entry.record else None
    if kept is not None and kept.config_hash == record.config_hash and kept.versions == record.versions:
        record = _together(kept, record)
    ModelEntry.objects.filter(pk=entry.pk).update(
        state=EntryState.READY,
        record=record.as_json(),
        error=None,
        config_hash=record.config_hash,
        attempts=0,
        inspected_at=timezone.now(),
    )
    entry.refresh_from_db()
    return record


def _is_of(record: InspectionRecord, versions: Mapping[str, str]) -> bool:
    """A worker that was not asked yet contradicts nothing."""
    return all(versions.get(name, version) == version for name, version in record.versions.items())


def _covers(record: InspectionRecord, question: Question) -> bool:
    if question.dtype not in record.weights_bytes:
        return False
    wanted = [s for s in (BASELINE, *question.strategies) if refusal_of(record, s) is None]
    return all(_has_rungs(record, strategy, phase, question) for strategy in wanted for phase in Phase)


def _has_rungs(record: InspectionRecord, strategy: Strategy, phase: Phase, question: Question) -> bool:
    wanted = (phase, rung_name(strategy, phase), question.dtype, question.attention)
    return any((rung.phase, rung.strategy, rung.dtype, rung.attention) == wanted for rung in record.rungs)


def _together(kept: InspectionRecord, fresh: InspectionRecord) -> InspectionRecord:
    rungs = {_key(rung): rung for rung in (*kept.rungs, *fresh.rungs)}
    data = fresh.as_json() | {
        "rungs": [vars(rung) for rung in rungs.values()],
        "weights_bytes": {**kept.weights_bytes, **fresh.weights_bytes},
        "refusals": {**kept.refusals, **fresh.refusals},
    }
    return InspectionRecord.from_json(data)


def _key(rung: PeakRung) -> tuple[Phase, str, str, str, int, int]:
    return rung.phase, rung.strategy, rung.dtype, rung.attention, rung.sequences, rung.tokens
