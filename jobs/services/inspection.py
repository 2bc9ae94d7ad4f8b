"""The record of a model's inspection, made once for each precision and strategy and kept with the model."""

from collections.abc import Callable, Mapping
from typing import Any

from django.db import transaction
from django.utils import timezone

from jobs.models import EntryState, ModelEntry
from jobs.procedure.question import Question
from jobs.running.inspection_code import inspection_code
from jobs.running.kept_records import files_of
from jobs.sizing.coverage import covers, together
from jobs.sizing.model_spec import ModelSpec
from jobs.sizing.record import InspectionRecord
from jobs.sizing.strategy import BASELINE

Inspect = Callable[..., InspectionRecord]


def record_for(
    *, entry: ModelEntry, question: Question, versions: Mapping[str, str], inspect: Inspect, **how: Any
) -> InspectionRecord:
    """The kept record where it serves this question and these library versions; else a new pass, which is kept.

    `how` goes to `inspect` (jobs.running.inspection.inspect_model): cancelled, process.
    """
    kept = InspectionRecord.from_json(entry.record) if entry.record else None
    spec = ModelSpec.from_json(entry.spec)
    strategies = tuple(dict.fromkeys((BASELINE, *question.strategies)))
    if (
        kept is not None
        and is_of(kept, spec, {**versions, **commit_of(entry)})
        and covers(kept, dtype=question.dtype, strategies=strategies, attention=question.attention)
    ):
        return kept
    record = inspect(
        spec,
        dtypes=(question.dtype,),
        strategies=tuple(map(str, strategies)),
        attention=question.attention,
        **how,
    )
    return record_keep(entry=entry, record=record)


@transaction.atomic
def record_keep(*, entry: ModelEntry, record: InspectionRecord) -> InspectionRecord:
    """Keep it, with what an earlier pass of the same libraries over the same config found beside it."""
    before = ModelEntry.objects.select_for_update().get(pk=entry.pk).record
    whole = together(InspectionRecord.from_json(before), record) if before else record
    ModelEntry.objects.filter(pk=entry.pk).update(
        state=EntryState.READY,
        record=whole.as_json(),
        error=None,
        config_hash=whole.config_hash,
        attempts=0,
        inspected_at=timezone.now(),
    )
    entry.refresh_from_db()
    return whole


def commit_of(entry: ModelEntry) -> dict[str, str]:
    """What a Hub model's revision stands for, as records name it; nothing where it is not known."""
    return {"commit": entry.seen_commit} if entry.seen_commit else {}


def is_of(record: InspectionRecord, spec: ModelSpec, versions: Mapping[str, str]) -> bool:
    """Whether the record came from this program's code, the model's files as they stand, and these libraries, as far as
    they are known. versions: a Hub model's "commit" too."""
    now = {**versions, **files_of(spec), "inspection": inspection_code()}
    return all(now.get(name, version) == version for name, version in record.versions.items())
