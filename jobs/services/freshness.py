"""Whether profiles' answers still hold is written down whenever something that they rest on may have changed."""

from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from jobs.models import Freshness, Profile
from jobs.procedure.difference import weightiest
from jobs.procedure.freshness import differences
from jobs.selectors.freshness import basis_of, now_of

READ_BY = F("model_entry__record__versions__transformers")
COMPARED = (
    "question",
    "freshness",
    "differences",
    "differs_since",
    *(f"worker__{name}" for name in ("versions", "device_name", "capacity_bytes")),
    *(f"model_entry__{name}" for name in ("revision", "seen_commit", "config_hash")),
    *(f"answer_run__{name}" for name in ("question", "environment", "device", "config_hash", "limit_strategy")),
)


def profile_freshen(*, profile: Profile) -> None:
    """Of one, as it stands in the database; `profile` itself learns it too."""
    profiles_freshen(of=Q(pk=profile.pk))
    profile.refresh_from_db(fields=["freshness", "differences", "differs_since"])


@transaction.atomic
def profiles_freshen(*, of: Q, now: datetime | None = None) -> int:
    """Of all those profiles, archived ones too; returns how many changed. Three queries, however many they are."""
    now = now or timezone.now()
    held = list(Profile.objects.filter(of).order_by("pk").select_for_update().values_list("pk", flat=True))
    found = Profile.objects.filter(pk__in=held).select_related("worker", "model_entry", "answer_run")
    changed = [profile for profile in found.only(*COMPARED).annotate(read_by=READ_BY) if _settle(profile, now)]
    Profile.objects.bulk_update(changed, ["freshness", "differences", "differs_since"], batch_size=200)
    return len(changed)


def _settle(profile: Any, now: datetime) -> bool:
    """Whether anything about it changed."""
    before = (profile.freshness, profile.differences)
    run = profile.answer_run
    if run is None:
        profile.freshness, profile.differences = Freshness.NONE, []
    else:
        present = now_of(profile, read_by=profile.read_by)
        found = differences(basis_of(run), present, strategy=run.limit_strategy)
        profile.freshness = Freshness(weightiest(found) or Freshness.FRESH)
        profile.differences = [difference.as_json() for difference in found]
    profile.differs_since = (profile.differs_since or now) if profile.differences else None
    return before != (profile.freshness, profile.differences)
