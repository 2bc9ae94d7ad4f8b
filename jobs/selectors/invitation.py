"""Invitations that still hold."""

from django.db.models import Q, QuerySet
from django.utils import timezone

from jobs.models import Invitation
from jobs.selectors.team import administrators
from jobs.selectors.token import token_hash


def still_open() -> Q:
    """Unused, in time, and of somebody who still administers: whoever was put out does not come back by them."""
    return Q(used_at=None, revoked_at=None, expires_at__gt=timezone.now(), invited_by__in=administrators())


def invitations_open() -> QuerySet[Invitation]:
    """The latest first."""
    return Invitation.objects.filter(still_open()).select_related("invited_by")


def invitation_of(token: str) -> Invitation | None:
    """None for a token that is unknown, used, revoked or expired."""
    digest = token_hash(token)
    return invitations_open().filter(token_sha256=digest).first()


def invitation_get(pk: int) -> Invitation:
    """Raises Invitation.DoesNotExist."""
    return Invitation.objects.get(pk=pk)
