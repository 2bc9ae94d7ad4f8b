"""A profile without a worker, kept by a command or left by a worker that is gone, is given one of the same device."""

from django.db.models import Q

from jobs.models import Profile, Worker
from jobs.selectors.worker_fitting import device_measured, profiles_fitting, worker_fitting
from jobs.services.freshness import profile_freshen, profiles_freshen
from jobs.sizing.refusal import Refusal


def worker_attach(*, profile: Profile) -> Worker:
    """In a transaction. Raises Refusal: no_worker."""
    worker = worker_fitting(profile)
    if worker is None:
        named = device_measured(profile)
        device = f"{profile.question['device']} of {named}" if named else str(profile.question["device"])
        raise Refusal(
            "no_worker",
            f"No worker for {device} is connected.",
            "Start one there, or clone this profile for another device.",
        )
    Profile.objects.filter(pk=profile.pk).update(worker=worker)
    profile.worker = worker
    profile_freshen(profile=profile)
    return worker


def profiles_attach(*, worker: Worker) -> None:
    """In a transaction: all that fit a worker that has said what it is; whether their answers still hold is known
    from now on."""
    fitting = list(profiles_fitting(worker).values_list("pk", flat=True))
    Profile.objects.filter(pk__in=fitting, worker=None).update(worker=worker)
    profiles_freshen(of=Q(worker=worker))
