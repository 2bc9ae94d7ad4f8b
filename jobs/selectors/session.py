"""Where a member is signed in."""

from django.contrib.auth.models import User
from django.db.models import QuerySet

from jobs.models import SignedIn


def sessions_of(user: User) -> QuerySet[SignedIn]:
    """The one seen last first."""
    return SignedIn.objects.filter(user=user)


def session_get(pk: int) -> SignedIn:
    """Raises SignedIn.DoesNotExist."""
    return SignedIn.objects.get(pk=pk)
