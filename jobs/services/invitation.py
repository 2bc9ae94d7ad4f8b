"""One-time links that make a member's account."""

import secrets
from datetime import timedelta

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils import timezone

from jobs.models import Invitation, Membership, Role
from jobs.selectors.invitation import invitation_of, still_open
from jobs.selectors.token import token_hash
from jobs.services.account import refuse_unfit
from jobs.services.deed import What, deed_record
from jobs.services.flags import flags_set
from jobs.sizing.refusal import Refusal

USUAL_DAYS = 7
MOST_DAYS = 30


@transaction.atomic
def invitation_make(*, user: User, role: Role, note: str = "", days: int = USUAL_DAYS) -> str:
    """A fresh token of 256 random bits: it is told once, and only its hash is kept."""
    if not 1 <= days <= MOST_DAYS:
        raise Refusal("bad_days", f"An invitation holds for 1 to {MOST_DAYS} days.", f"{USUAL_DAYS} days are usual.")
    token = secrets.token_urlsafe(32)
    Invitation.objects.create(
        token_sha256=token_hash(token),
        role=role,
        note=note.strip()[:120],
        invited_by=user,
        expires_at=timezone.now() + timedelta(days=days),
    )
    deed_record(user=user, what=What.INVITED, on=note.strip() or f"a {role.label}", about=f"as {role.label}")
    return token


@transaction.atomic
def invitation_revoke(*, user: User, invitation: Invitation) -> bool:
    """False where it is used, revoked or expired already."""
    if not Invitation.objects.filter(still_open(), pk=invitation.pk).update(revoked_at=timezone.now()):
        return False
    whom = invitation.note or f"a {Role(invitation.role).label}"
    deed_record(user=user, what=What.REVOKED, on=f"the invitation of {whom}")
    return True


@transaction.atomic
def account_join(*, token: str, username: str, password: str, email: str = "") -> User:
    """The invited account, of the invited role. Raises Refusal("invitation_void") for a link that is none any more:
    it is taken by a conditional update, so of two at once one gets it."""
    invitation = invitation_of(token)
    if invitation is None or not _taken(invitation):
        raise Refusal("invitation_void", "This invitation is unknown, used, revoked or expired.", "Ask for another.")
    user = User(username=username, email=email)
    flags_set(user, Role(invitation.role))
    user.set_password(password)
    refuse_unfit(user, password)
    _save_new(user)
    Membership.objects.create(user=user, role=invitation.role)
    Invitation.objects.filter(pk=invitation.pk).update(used_by=user)
    by = invitation.invited_by.get_username() if invitation.invited_by else "somebody who left"
    deed_record(user=user, what=What.JOINED, on="the team", about=f"as {invitation.role}, invited by {by}")
    return user


def _taken(invitation: Invitation) -> bool:
    return bool(Invitation.objects.filter(still_open(), pk=invitation.pk).update(used_at=timezone.now()))


def _save_new(user: User) -> None:
    """Of two who choose the same name at once, the second is refused."""
    try:
        with transaction.atomic():
            user.save()
    except IntegrityError:
        raise Refusal(
            "bad_username", "A user with that username already exists.", "Choose another user name."
        ) from None
