"""Who is signed in."""

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import User
from django.http import HttpRequest

MOST_NAME_CHARACTERS = 150  # of a user name; what is longer is nobody's


def signed_in(request: HttpRequest) -> User:
    """The member behind a request; the middleware lets nobody else come so far."""
    if not isinstance(request.user, User):
        raise TypeError("a view that needs a member was reached without one")
    return request.user


def tried_username(request: HttpRequest, credentials: Mapping[str, Any] | None = None) -> str | None:
    """The name that a sign-in was tried with, as failures are counted by it: no longer than a name can be."""
    name = (credentials or {}).get("username") or request.POST.get("username")
    return None if name is None else str(name)[:MOST_NAME_CHARACTERS]
