"""Tokens that programs sign in with: made, used, revoked."""

import secrets
from datetime import timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from jobs.models import ApiToken, Role, TokenScope
from jobs.selectors.permission import role_of
from jobs.selectors.token import token_hash
from jobs.services.deed import PROGRAM, What, deed_record
from jobs.sizing.refusal import Refusal

PREFIX = "kvp_"  # so that a token is known for one wherever it is found
TOKEN_BYTES = 32
SHOWN_CHARACTERS = 8
MOST_NAME_CHARACTERS = 80
USED_EVERY = timedelta(minutes=1)


@transaction.atomic
def api_token_make(*, user: User, name: str, scope: TokenScope, by: User | None) -> str:
    """A token of 256 random bits, told this once: only its hash is kept. by: who made it, None for the command line."""
    name = name.strip()
    if not 0 < len(name) <= MOST_NAME_CHARACTERS or not name.isprintable():
        raise Refusal(
            "bad_name",
            f"A token needs a name of 1 to {MOST_NAME_CHARACTERS} printable characters.",
            "Name it after the program that will use it.",
        )
    text = PREFIX + secrets.token_urlsafe(TOKEN_BYTES)
    ApiToken.objects.create(
        user=user, name=name, start=text[:SHOWN_CHARACTERS], token_sha256=token_hash(text), scope=scope
    )
    deed_record(user=by, what=What.MADE_TOKEN, on=name, about=f"{scope.label}, for {user}", without_user=PROGRAM)
    return text


def api_token_may_revoke(*, user: User, token: ApiToken) -> bool:
    """Its owner, a viewer too, and whoever administers."""
    return user.pk == token.user_id or role_of(user) == Role.ADMIN


@transaction.atomic
def api_token_revoke(*, token: ApiToken, user: User) -> None:
    """From now on nothing signs in with it; a revoked one stays as it is. Raises Refusal: not_yours."""
    if not api_token_may_revoke(user=user, token=token):
        raise Refusal("not_yours", f"The token “{token.name}” is somebody else's.", "Ask its owner to revoke it.")
    if ApiToken.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=timezone.now()):
        deed_record(user=user, what=What.REVOKED, on=f"the token {token.name}", about=f"of {token.user}")


def api_token_used(*, token: ApiToken) -> None:
    """Note when it was last used, to the minute."""
    now = timezone.now()
    if token.used_at is None or token.used_at <= now - USED_EVERY:
        stale = Q(used_at=None) | Q(used_at__lte=now - USED_EVERY)
        ApiToken.objects.filter(stale, pk=token.pk).update(used_at=now)
