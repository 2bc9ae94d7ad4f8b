"""A profile's runs in time."""

from django.db.models import Q, QuerySet

from jobs.models import Adoption, Profile, Run

NOT_LISTED = ("stages", "error")


def runs_of(profile: Profile) -> QuerySet[Run]:
    """The latest first, without what is large."""
    found = Run.objects.filter(profile=profile).select_related("submitted_by", "worker").defer(*NOT_LISTED)
    return found.order_by("-queued_at", "-pk")


def answered_before(run: Run) -> Run | None:
    """The same profile's latest answered run that was asked for earlier."""
    earlier = Q(queued_at__lt=run.queued_at) | Q(queued_at=run.queued_at, pk__lt=run.pk)
    return runs_of(run.profile).filter(earlier, answered=True).first()


def adoptions_of(profile: Profile) -> QuerySet[Adoption]:
    """The latest first, those that were withdrawn too."""
    return Adoption.objects.filter(profile=profile).select_related("adopted_by")
