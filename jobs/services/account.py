"""The first account, made through a one-time link."""

import secrets

from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from jobs.models import Membership, Role, SetupLink
from jobs.selectors.token import token_hash
from jobs.sizing.refusal import Refusal


@transaction.atomic
def setup_link_make() -> str:
    """A fresh token of 256 random bits. Only its hash is kept, and links made earlier and not used are void."""
    SetupLink.objects.filter(used_at=None).delete()
    token = secrets.token_urlsafe(32)
    SetupLink.objects.create(token_sha256=token_hash(token))
    return token


@transaction.atomic
def account_make_first(*, token: str, username: str, password: str) -> User:
    """The first account, which may administer. Raises Refusal where there is one, or the link is unknown or used.

    Every link's row is locked first, so of two at once the second waits, and then sees the first one's account.
    """
    list(SetupLink.objects.select_for_update().order_by("pk"))
    taken = SetupLink.objects.filter(token_sha256=token_hash(token), used_at=None).update(used_at=timezone.now())
    if not taken or User.objects.exists():
        raise Refusal(
            "setup_link_void",
            "This set-up link is unknown or was used already.",
            "Sign in, or start the portal again for a new link while there is no account.",
        )
    user = User(username=username, is_staff=True, is_superuser=True)
    user.set_password(password)
    refuse_unfit(user, password)
    user.save()
    Membership.objects.create(user=user, role=Role.ADMIN)
    return user


def refuse_unfit(user: User, password: str) -> None:
    """Raises Refusal("bad_username") or Refusal("weak_password"), in Django's words."""
    try:
        user.full_clean(exclude=["password"])
    except ValidationError as error:
        raise Refusal("bad_username", " ".join(error.messages), "Choose another user name.") from None
    try:
        validate_password(password, user)
    except ValidationError as error:
        raise Refusal("weak_password", " ".join(error.messages), "Choose another password.") from None
