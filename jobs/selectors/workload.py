"""Saved workloads."""

from django.db.models import Count, Q, QuerySet

from jobs.models import Workload


def workloads_list(*, archived: bool = False) -> QuerySet[Workload]:
    """By name, each with `used_by`: how many profiles that are not archived were made with it."""
    found = Workload.objects.filter(archived_at__isnull=not archived).select_related("owner", "prompts")
    return found.annotate(used_by=Count("profiles", filter=Q(profiles__archived_at=None))).order_by("name")


def workloads_offered() -> QuerySet[Workload]:
    """To choose from."""
    return Workload.objects.filter(archived_at=None).select_related("owner", "prompts").order_by("name")


def workload_get(pk: int) -> Workload:
    """Raises Workload.DoesNotExist."""
    return Workload.objects.select_related("owner", "prompts").get(pk=pk)
