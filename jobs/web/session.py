"""Who is signed in."""

from django.contrib.auth.models import User
from django.http import HttpRequest


def signed_in(request: HttpRequest) -> User:
    """The member behind a request; the middleware lets nobody else come so far."""
    if not isinstance(request.user, User):
        raise TypeError("a view that needs a member was reached without one")
    return request.user
