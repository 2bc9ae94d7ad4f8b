"""A profile that a team has kept for a while: answered again and again, adopted, tagged, with notes."""

from datetime import timedelta

from django.contrib.auth.models import User
from django.utils import timezone

from jobs.models import Profile, Run
from jobs.services.adoption import adoption_adopt
from jobs.services.freshness import profile_freshen
from jobs.services.profile import profile_edit
from tests.browser import demo
from tests.browser.demo_worlds import VERSIONS

COURSE = [
    (3712, {"transformers": "5.22.0"}, 0.91),
    (3712, {"transformers": "5.22.0"}, 0.9),
    (3840, {"transformers": "5.23.0", "torch": "2.12.1"}, 0.93),
    (3840, {"transformers": "5.23.0", "torch": "2.13.0"}, 0.92),
    (3968, {}, 0.99),
]
"""Context, the versions that were others than now, and the speed as a part of the last run’s: in time."""


def remembered(run: int = 0) -> int:
    """The profile of a run that is done, with the course before it; its number."""
    last = Run.objects.get(pk=run) if run else Run.objects.filter(answered=True).order_by("pk")[0]
    user, now = User.objects.get(username=demo.member()["username"]), timezone.now()
    for days, (context, versions, speed) in zip(range(60, 0, -12), COURSE, strict=True):
        made = Run.objects.get(pk=last.pk)
        made.pk, made.last_seq = None, 0
        made.limit_context, made.tokens_per_s = context, speed * (last.tokens_per_s or 1.0)
        made.environment = last.environment | {"versions": VERSIONS | versions}
        made.save(force_insert=True)
        at = now - timedelta(days=days)
        Run.objects.filter(pk=made.pk).update(queued_at=at, started_at=at, finished_at=at + timedelta(minutes=7))
    profile = Profile.objects.get(pk=last.profile_id)
    profile_edit(
        profile=profile,
        user=user,
        name=profile.name,
        tags="nightly, summaries, 340 MiB",
        notes="For the nightly batch of summaries.\nAsk Ada before the capacity is changed.",
        at_night=True,
    )
    adoption_adopt(
        run=last, user=user, context=(last.limit_context or 0) - 256, reason="Room for a longer system prompt."
    )
    profile_freshen(profile=profile)
    return int(profile.pk)
