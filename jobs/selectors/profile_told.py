"""Profiles whole, as programs are told them: a constant number of queries, however many they are."""

from django.db.models import QuerySet

from jobs.models import Profile

HEAVY = ("stages", "environment", "device", "question")


def profiles_told() -> QuerySet[Profile]:
    """With tags, latest and answering run, and adoption; of the runs and the model nothing large."""
    heavy = [f"{run}__{field}" for run in ("latest_run", "answer_run") for field in HEAVY]
    related = ("owner", "model_entry", "workload", "worker", "latest_run", "answer_run", "adoption__adopted_by")
    found = Profile.objects.select_related(*related).defer(*heavy, "model_entry__record", "model_entry__spec")
    return found.prefetch_related("tags").order_by("-created_at", "-pk")


def profile_told(pk: int) -> Profile:
    """Raises Profile.DoesNotExist."""
    return profiles_told().get(pk=pk)
