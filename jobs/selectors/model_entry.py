"""Models that were asked for."""

from django.db.models import QuerySet

from jobs.models import ModelEntry
from jobs.sizing.record import InspectionRecord


def entry_get(pk: int) -> ModelEntry:
    """Raises ModelEntry.DoesNotExist."""
    return ModelEntry.objects.get(pk=pk)


def entries_list() -> QuerySet[ModelEntry]:
    """By name, without the records, which are large."""
    return ModelEntry.objects.defer("record", "spec").order_by("name", "revision")


def record_of(entry: ModelEntry) -> InspectionRecord | None:
    """None while the inspection has not ended, or ended with a refusal and never with a record."""
    return InspectionRecord.from_json(entry.record) if entry.record else None
