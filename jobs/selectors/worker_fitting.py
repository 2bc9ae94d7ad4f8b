"""Which worker can answer a profile that has none: one of the same device."""

from django.db.models import Q, QuerySet
from django.utils import timezone

from jobs.models import Profile, Worker
from jobs.models.heartbeat import silent_since
from jobs.selectors.freshness import NAME_CHARACTERS


def device_measured(profile: Profile) -> str:
    """The name of the device that its answer, else its latest run, was measured on; empty where that is not known."""
    run = profile.answer_run or profile.latest_run
    return str((run.device if run else {}).get("name") or "")[:NAME_CHARACTERS]


def worker_fitting(profile: Profile) -> Worker | None:
    """Of the device in its question, and of that device's name where it is known; one that is alive before a silent
    one. One that lives and has not said yet what it is comes last."""
    same = Worker.objects.filter(device=profile.question["device"]).order_by("-seen_at")
    name = device_measured(profile)
    named = same.filter(device_name=name) if name else same
    alive = Q(seen_at__gte=silent_since(timezone.now()))
    return named.filter(alive).first() or named.first() or same.filter(alive, versions={}, error__isnull=True).first()


def profiles_fitting(worker: Worker) -> QuerySet[Profile]:
    """Those without a worker whose answer was measured on this worker's device."""
    named = Q(answer_run__device__name=worker.device_name)
    return Profile.objects.filter(named, worker=None, question__device=worker.device)
