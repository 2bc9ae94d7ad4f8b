"""Models that were asked for."""

from datetime import datetime
from functools import lru_cache

from django.db.models import QuerySet

from jobs.models import EntryState, ModelEntry
from jobs.sizing.model_spec import ModelSpec
from jobs.sizing.record import InspectionRecord

MOST_PARSED = 32


def entries_list() -> QuerySet[ModelEntry]:
    """By name, without the records, which are large."""
    return ModelEntry.objects.defer("record", "spec").order_by("name", "revision")


def entries_before(entry: ModelEntry) -> int:
    """How many models that were asked for earlier still wait to be read."""
    return ModelEntry.objects.filter(state=EntryState.WAITING, pk__lt=entry.pk).count()


def entry_find(spec: ModelSpec) -> ModelEntry | None:
    """The entry of a model that somebody asked about before, without its record, which is large."""
    named = ModelEntry.objects.filter(kind=str(spec.kind), name=spec.name, revision=spec.revision or "")
    return named.defer("record").first()


def record_of(entry: ModelEntry) -> InspectionRecord | None:
    """None while the inspection has not ended, or ended with a refusal and never with a record."""
    if entry.inspected_at is None:
        return InspectionRecord.from_json(entry.record) if entry.record else None
    return _parsed(entry.pk, entry.inspected_at)


@lru_cache(maxsize=MOST_PARSED)
def _parsed(pk: int, inspected_at: datetime) -> InspectionRecord | None:
    """A record has hundreds of rungs, and a form that is filled in asks for it with each key."""
    record = ModelEntry.objects.values_list("record", flat=True).get(pk=pk)
    return InspectionRecord.from_json(record) if record else None
