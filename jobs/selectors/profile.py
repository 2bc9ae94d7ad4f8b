"""Profiles: one, and lists of them with what lists print and nothing large."""

from collections.abc import Iterable
from typing import Any, cast

from django.db.models import Exists, F, OuterRef, Q, QuerySet, TextField, Value
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Coalesce, NullIf

from jobs.models import Profile, Tag

LISTED = (
    "name",
    "question",
    "freshness",
    "differences",
    "differs_since",
    "created_at",
    "archived_at",
    "owner__username",
    "model_entry__name",
    "worker__device_name",
    "worker__capacity_bytes",
    "latest_run__state",
    "latest_run__queued_at",
    "latest_run__finished_at",
    "answer_run__limit_context",
    "answer_run__limit_strategy",
    "answer_run__limited_by",
    "answer_run__fits",
    "answer_run__tokens_per_s",
    "answer_run__device",
    "answer_run__finished_at",
    "adoption__context",
    "adoption__strategy",
)
RELATED = ("owner", "model_entry", "worker", "latest_run", "answer_run", "adoption")
SORTS: dict[str, tuple[str, bool]] = {
    "date": ("at", False),
    "-date": ("at", True),
    "name": ("name", False),
    "model": ("model_entry__name", False),
    "context": ("answer_run__limit_context", False),
    "-context": ("answer_run__limit_context", True),
    "-speed": ("answer_run__tokens_per_s", True),
}
"""By name: the column, and whether the highest come first; what has none of it comes last."""


def profiles_list(*, sort: str = "-date") -> QuerySet[Profile]:
    """Archived ones too. `at`: when it was answered, else when its latest run ended or was asked for; `device_shown`:
    the device that it was answered on, else its worker's."""
    found = Profile.objects.select_related(*RELATED).only(*LISTED).prefetch_related("tags")
    at = Coalesce("answer_run__finished_at", "latest_run__finished_at", "latest_run__queued_at", "created_at")
    return found.annotate(at=at, device_shown=_device_shown()).order_by(*_order(sort))


def profiles_with_words(found: QuerySet[Profile], words: str) -> QuerySet[Profile]:
    """In the name, the model, a tag or the owner's name."""
    tagged = Tag.objects.filter(profiles=OuterRef("pk"), name__icontains=words)
    named = Q(name__icontains=words) | Q(model_entry__name__icontains=words) | Q(owner__username__icontains=words)
    return found.filter(named | Exists(tagged))


def profiles_on(found: Any, device: str) -> QuerySet[Profile]:
    """Of those that profiles_list has, where it shows this device."""
    return cast("QuerySet[Profile]", found.filter(device_shown=device))


def devices_shown() -> list[str]:
    """Whatever profiles_list shows as a device."""
    names = Profile.objects.annotate(device_shown=_device_shown()).values_list("device_shown", flat=True)
    return sorted(name for name in names.order_by().distinct() if name)


def tags_used() -> list[str]:
    return list(Tag.objects.filter(profiles__isnull=False).distinct().values_list("name", flat=True))


def profile_get(pk: int) -> Profile:
    """Raises Profile.DoesNotExist."""
    related = ("owner", "model_entry", "workload", "worker", "cloned_from__owner", "adoption__adopted_by")
    return Profile.objects.select_related(*related).get(pk=pk)


def _device_shown() -> Any:
    found = NullIf(KeyTextTransform("name", "answer_run__device"), Value("", TextField()))
    return Coalesce(found, F("worker__device_name"), Value(""), output_field=TextField())


def _order(sort: str) -> Iterable[Any]:
    column, highest_first = SORTS[sort]
    by = F(column)
    return (by.desc(nulls_last=True) if highest_first else by.asc(nulls_last=True)), "-created_at", "-pk"
