"""At night, idle devices measure again what no longer holds: one run each, behind whatever people ask for."""

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, F, OuterRef, QuerySet
from django.db.models.lookups import IsNull
from django.utils import timezone

from jobs.models import ACTIVE_STATES, Freshness, Profile, Run, Worker
from jobs.models.heartbeat import silent_since
from jobs.services.recheck import RECHECKS, run_at_night

ONCE_IN = timedelta(hours=20)
NOT_FRESH = (Freshness.STALE, Freshness.DOUBT)


def night_recheck(*, now: datetime | None = None) -> list[Run]:
    """One round: of each worker that has nothing to do, the adopted answer that has been stale for longest, or in
    doubt, else one that nobody adopted. None twice in 20 hours, whatever became of it."""
    now = now or timezone.now()
    if not is_night(now):
        return []
    first: dict[int, int] = {}
    for worker_id, profile_id in _candidates(now).filter(worker__in=_idle(now)).values_list("worker_id", "pk"):
        first.setdefault(worker_id, profile_id)
    asked = [_ask(worker_id, profile_id, now) for worker_id, profile_id in first.items()]
    return [run for run in asked if run is not None]


def is_night(now: datetime) -> bool:
    """By RECHECK_HOURS, in RECHECK_TIME_ZONE: from the first hour on, until the second begins."""
    if settings.RECHECK_HOURS is None:
        return False
    begin, end = settings.RECHECK_HOURS
    hour = now.astimezone(ZoneInfo(settings.RECHECK_TIME_ZONE)).hour
    return bool(begin <= hour < end if begin < end else hour >= begin or hour < end)


@transaction.atomic
def _ask(worker_id: int, profile_id: int, now: datetime) -> Run | None:
    """None where another sweep, or somebody's question, was faster."""
    worker = Worker.objects.select_for_update().get(pk=worker_id)
    if not _idle(now).filter(pk=worker_id).exists():
        return None
    return run_at_night(profile=Profile.objects.get(pk=profile_id), worker=worker)


def _idle(now: datetime) -> QuerySet[Worker]:
    """Alive, able to measure, and with nothing that runs or waits."""
    busy = Run.objects.filter(worker=OuterRef("pk"), state__in=ACTIVE_STATES)
    return Worker.objects.filter(~Exists(busy), seen_at__gte=silent_since(now), error__isnull=True).exclude(versions={})


def _candidates(now: datetime) -> QuerySet[Profile]:
    runs = Run.objects.filter(profile=OuterRef("pk"))
    going = Exists(runs.filter(state__in=ACTIVE_STATES))
    lately = Exists(runs.filter(purpose__in=RECHECKS, queued_at__gt=now - ONCE_IN))
    found = Profile.objects.filter(~going, ~lately, at_night=True, archived_at=None, freshness__in=NOT_FRESH)
    answered = found.filter(answer_run__isnull=False)
    return answered.order_by(IsNull(F("adoption"), True), "-freshness", "differs_since", "pk")
