"""Who may do what: by role, and by whose it is."""

from collections.abc import Iterable
from enum import StrEnum
from typing import Any, cast

from django.contrib.auth.models import AnonymousUser, User

from jobs.models import Membership, Role


class Act(StrEnum):
    """READ: whatever the team has. ASK: runs, adoptions, shares, workloads and prompts. CHANGE: what somebody owns.
    ADMINISTER: the team and what others own."""

    READ = "read"
    ASK = "ask"
    CHANGE = "change"
    ADMINISTER = "administer"


def role_of(user: User | AnonymousUser) -> Role | None:
    """None for nobody."""
    return role_kept(user) if isinstance(user, User) and user.is_active else None


def role_kept(user: User) -> Role:
    """Also of an ended account: what it would be again. One without a membership was made by hand: it may look, or
    administer where it is a superuser."""
    if user.is_superuser:
        return Role.ADMIN
    try:
        return Role(cast("Any", user).membership.role)
    except Membership.DoesNotExist:
        return Role.VIEWER


def may(user: User | AnonymousUser, act: Act, *, owners: Iterable[int | None] = ()) -> bool:
    """owners: the ids of those whom the object belongs to, for CHANGE."""
    role = role_of(user)
    if role is None:
        return False
    if role == Role.ADMIN:
        return True
    if act is Act.READ:
        return True
    if role == Role.VIEWER or act is Act.ADMINISTER:
        return False
    return act is Act.ASK or user.pk in set(owners)
