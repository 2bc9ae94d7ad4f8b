"""Tokens that programs sign in with."""

from django.contrib.auth.models import User
from django.db.models import F, QuerySet

from jobs.models import ApiToken
from jobs.selectors.token import token_hash


def api_token_find(text: str) -> ApiToken | None:
    """The token that is good as of now, with its user and their role: neither revoked nor of an account that ended."""
    digest = token_hash(text)
    good = ApiToken.objects.filter(revoked_at=None, user__is_active=True)
    return good.select_related("user__membership").filter(token_sha256=digest).first()


def api_token_get(pk: int) -> ApiToken:
    """Raises ApiToken.DoesNotExist."""
    return ApiToken.objects.select_related("user").get(pk=pk)


def api_tokens_of(user: User) -> QuerySet[ApiToken]:
    """The user's own, the newest first, revoked ones last."""
    return ApiToken.objects.filter(user=user).order_by(F("revoked_at").desc(nulls_first=True), "-made_at", "-pk")


def api_tokens_of_others(user: User) -> QuerySet[ApiToken]:
    """What other members' programs can still sign in with."""
    good = ApiToken.objects.filter(revoked_at=None, user__is_active=True).exclude(user=user)
    return good.select_related("user").order_by("user__username", "-made_at", "-pk")
