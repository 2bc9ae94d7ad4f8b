"""Profiles with their latest run."""

from django.db.models import Prefetch, QuerySet

from jobs.models import Profile, Run


def profiles_list() -> QuerySet[Profile]:
    """The newest first; `latest_runs` holds each one's runs, the newest first."""
    runs = Run.objects.select_related("worker").order_by("-queued_at", "-pk")
    return _profiles().prefetch_related(Prefetch("runs", queryset=runs, to_attr="latest_runs"))


def profile_get(pk: int) -> Profile:
    """Raises Profile.DoesNotExist."""
    return _profiles().get(pk=pk)


def _profiles() -> QuerySet[Profile]:
    return Profile.objects.select_related("owner", "model_entry", "workload", "worker")
