"""Who is signed in."""

from importlib import import_module
from types import SimpleNamespace
from typing import cast

from django.conf import settings
from django.contrib.auth import get_user
from django.contrib.auth.models import AnonymousUser, User
from django.http import HttpRequest

from jobs.models import SetupLink
from jobs.selectors.token import token_hash


def account_exists() -> bool:
    return User.objects.exists()


def setup_link_open(token: str) -> bool:
    """Whether the link's token would still make the first account."""
    digest = token_hash(token)
    return not account_exists() and SetupLink.objects.filter(token_sha256=digest, used_at=None).exists()


def session_user(session_key: str | None) -> User | None:
    """The session's user as the database has it now: None after sign-out, a new password, or the account's end."""
    if not session_key:
        return None
    session = import_module(settings.SESSION_ENGINE).SessionStore(session_key)
    user: User | AnonymousUser = get_user(cast("HttpRequest", SimpleNamespace(session=session)))
    return user if isinstance(user, User) and user.is_active else None
