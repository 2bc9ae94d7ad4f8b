"""A team's portal after a long time: many profiles, each with many runs, as large as real ones."""

from datetime import timedelta
from typing import Any

from django.db.models import F, OuterRef, Subquery
from django.utils import timezone

from jobs.models import Adoption, Freshness, Profile, Run, RunState, Tag, Workload
from tests.browser import demo

KINDS = [Freshness.FRESH, Freshness.DOUBT, Freshness.STALE]
CHANGED = {"what": "torch", "was": "2.12.0", "now": "2.13.0", "weight": "doubt"}
AT_ONCE = 500


def make_many(profiles: int, runs: int) -> None:
    """So many profiles, of which a quarter is archived and a fifth adopted, and so many runs, all of them ended."""
    first = Run.objects.get(pk=demo.begin())
    demo.finish(first.pk)
    first.refresh_from_db()
    now, like = timezone.now(), first.profile
    lengths = {"prompt_tokens": 4096, "typical_prompt_tokens": 1024, "answer_tokens": 256}
    workload = Workload.objects.create(name="The team’s", owner=like.owner, **lengths)
    tags = [Tag.objects.create(name=f"tag {number}") for number in range(20)]
    Profile.objects.bulk_create([_profile(like, workload, number, now) for number in range(profiles)], AT_ONCE)
    made = list(Profile.objects.exclude(pk=like.pk).order_by("pk"))
    Profile.tags.through.objects.bulk_create(
        [Profile.tags.through(profile=one, tag=tags[place % 20]) for place, one in enumerate(made)]
    )
    columns = _columns(first)
    for start in range(0, runs, AT_ONCE):
        places = range(start, min(start + AT_ONCE, runs))
        rows = [Run(profile=made[place % profiles], **columns | _varied(place)) for place in places]
        Run.objects.bulk_create(rows, AT_ONCE)
    _settle(made, now)


def _profile(like: Profile, workload: Workload, number: int, now: Any) -> Profile:
    return Profile(
        name=f"Profile {number}",
        owner=like.owner,
        model_entry=like.model_entry,
        worker=like.worker,
        workload=workload,
        question=like.question,
        notes="A note. " * 50,
        freshness=KINDS[number % 3],
        differences=[] if number % 3 == 0 else [CHANGED] * 3,
        archived_at=now if number % 4 == 0 else None,
    )


def _columns(run: Run) -> dict[str, Any]:
    names = ("worker", "submitted_by", "question", "queue", "device", "environment", "stages", "config_hash")
    answer = ("model_entry", "answered", "limit_strategy", "limited_by", "fits", "peak_bytes")
    return {name: getattr(run, name) for name in (*names, *answer)} | {"state": RunState.DONE}


def _varied(place: int) -> dict[str, Any]:
    return {"limit_context": 1000 + place, "tokens_per_s": 1.0 + place % 97, "finished_at": timezone.now()}


def _settle(made: list[Profile], now: Any) -> None:
    latest = Run.objects.filter(profile=OuterRef("pk")).order_by("-pk").values("pk")[:1]
    of = Profile.objects.filter(pk__in=[one.pk for one in made])
    of.update(latest_run=Subquery(latest))
    of.update(answer_run=F("latest_run"))
    Run.objects.filter(profile__in=of).update(queued_at=now - timedelta(days=1))
    adopted = [
        Adoption(profile_id=profile, run_id=run, context=900, strategy="default")
        for profile, run in of.values_list("pk", "answer_run")
        if profile % 5 == 0
    ]
    Adoption.objects.bulk_create(adopted)
    of.filter(adoptions__isnull=False).update(
        adoption=Subquery(Adoption.objects.filter(profile=OuterRef("pk")).values("pk")[:1])
    )
