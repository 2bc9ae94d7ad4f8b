"""Profiles whole, as programs are told them: a constant number of queries, however many they are."""

from collections.abc import Iterable
from typing import Any

from django.db.models import Q, QuerySet

from jobs.models import Profile
from jobs.selectors.profile import profiles_list, profiles_on, profiles_with_words

HEAVY = ("stages", "environment", "device", "question")
RELATED = ("owner", "model_entry", "workload", "worker", "latest_run", "answer_run", "adoption__adopted_by")
COLUMNS = {
    "freshness": "freshness",
    "tag": "tags__name",
    "state": "latest_run__state",
    "model": "model_entry__name",
    "owner": "owner",
}
"""Name of a condition -> the column that has exactly its value."""


def profiles_narrowed(
    *,
    q: str = "",
    device: str = "",
    worker: str = "",
    adopted: bool | None = None,
    archived: bool = False,
    sort: str = "-date",
    **exactly: Any,
) -> QuerySet[Profile, int]:
    """The ids, in order. worker: its id or name; adopted: None for either; exactly: as in COLUMNS."""
    found = profiles_list(sort=sort).filter(archived_at__isnull=not archived)
    found = found.filter(**{COLUMNS[name]: value for name, value in exactly.items()})
    if adopted is not None:
        found = found.filter(adoption__isnull=not adopted)
    if worker:
        by_id = Q(worker=int(worker)) if worker.isascii() and worker.isdigit() and len(worker) < 19 else Q()
        found = found.filter(Q(worker__name=worker) | by_id)
    if device:
        found = profiles_on(found, device)
    if q:
        found = profiles_with_words(found, q)
    return found.prefetch_related(None).values_list("pk", flat=True)


def profiles_told(ids: Iterable[int]) -> list[Profile]:
    """In the order of the ids."""
    ids = list(ids)
    found = {profile.pk: profile for profile in _told().filter(pk__in=ids).prefetch_related("tags")}
    return [found[pk] for pk in ids if pk in found]


def profile_told(pk: int) -> Profile:
    """Raises Profile.DoesNotExist."""
    return _told().get(pk=pk)


def _told() -> QuerySet[Profile]:
    """Of the runs and the model nothing large."""
    heavy = [f"{run}__{field}" for run in ("latest_run", "answer_run") for field in HEAVY]
    return Profile.objects.select_related(*RELATED).defer(*heavy, "model_entry__record", "model_entry__spec")
