"""Who did what: the list of deeds."""

from django.db.models import Q, QuerySet

from jobs.models import Deed, Profile


def deeds_list(*, who: str = "", what: str = "", words: str = "") -> QuerySet[Deed]:
    """The latest first; each knows its profile's and its run's number without a further query."""
    found = Deed.objects.all()
    if who:
        found = found.filter(who=who)
    if what:
        found = found.filter(what=what)
    if words:
        found = found.filter(Q(on__icontains=words) | Q(about__icontains=words))
    return found


def deeds_of(profile: Profile, most: int = 10) -> QuerySet[Deed]:
    """What was done to one profile and its runs, the latest first."""
    return Deed.objects.filter(profile=profile)[:most]


def doers() -> list[str]:
    """Whoever did something, by name."""
    return list(Deed.objects.order_by("who").values_list("who", flat=True).distinct())
