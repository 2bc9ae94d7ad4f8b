"""Invitations that still hold."""

import hashlib

from django.db.models import Q, QuerySet
from django.utils import timezone

from jobs.models import Invitation


def still_open() -> Q:
    return Q(used_at=None, revoked_at=None, expires_at__gt=timezone.now())


def invitations_open() -> QuerySet[Invitation]:
    """The latest first."""
    return Invitation.objects.filter(still_open()).select_related("invited_by")


def invitation_of(token: str) -> Invitation | None:
    """None for a token that is unknown, used, revoked or expired."""
    digest = hashlib.sha256(token.encode(errors="replace")).hexdigest()
    return invitations_open().filter(token_sha256=digest).first()


def invitation_get(pk: int) -> Invitation:
    """Raises Invitation.DoesNotExist."""
    return Invitation.objects.get(pk=pk)
