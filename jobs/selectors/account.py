"""Who is signed in."""

from importlib import import_module
from types import SimpleNamespace
from typing import cast

from django.conf import settings
from django.contrib.auth import get_user
from django.contrib.auth.models import AnonymousUser, User
from django.http import HttpRequest


def account_exists() -> bool:
    return User.objects.exists()


def session_user(session_key: str | None) -> User | None:
    """The session's user as the database has it now: None after sign-out, a new password, or the account's end."""
    if not session_key:
        return None
    session = import_module(settings.SESSION_ENGINE).SessionStore(session_key)
    user: User | AnonymousUser = get_user(cast("HttpRequest", SimpleNamespace(session=session)))
    return user if isinstance(user, User) and user.is_active else None
