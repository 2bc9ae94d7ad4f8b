"""Saved workloads."""

from django.db.models import QuerySet

from jobs.models import Workload


def workloads_list() -> QuerySet[Workload]:
    return Workload.objects.select_related("owner", "prompts").order_by("name")


def workload_get(pk: int) -> Workload:
    """Raises Workload.DoesNotExist."""
    return Workload.objects.get(pk=pk)
