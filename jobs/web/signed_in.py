"""Keeps the list of where each member is signed in: at a sign-in, at most once a minute after it, at a sign-out."""

import time
from typing import Any

from django.contrib.auth.models import User
from django.http import HttpRequest
from django.utils.deprecation import MiddlewareMixin

from jobs.services.session import session_forget, session_seen
from jobs.web.permission import View
from jobs.web.sign_in_needed import is_open

SEEN = "seen"  # in the session itself, which is read anyway: most requests ask nothing more
SEEN_EVERY_S = 60


class SeenMiddleware(MiddlewareMixin):
    def process_view(self, request: HttpRequest, view_func: View, *_: Any) -> None:
        if is_open(view_func):
            return
        if request.session.session_key is None or not isinstance(request.user, User):
            return
        if time.time() - float(request.session.get(SEEN, 0)) >= SEEN_EVERY_S:
            note(request, request.user)


def note(request: HttpRequest, user: User) -> None:
    request.session[SEEN] = int(time.time())
    if request.session.session_key is None:
        request.session.save()  # it has no key before
    session_seen(
        user=user,
        session_key=str(request.session.session_key),
        browser=request.META.get("HTTP_USER_AGENT", ""),
        address=request.META.get("REMOTE_ADDR", ""),
    )


def signed_in(*, request: HttpRequest, user: User, **_: Any) -> None:
    note(request, user)


def signed_out(*, request: HttpRequest, **_: Any) -> None:
    if request.session.session_key is not None:
        session_forget(session_key=request.session.session_key)
