"""Where members are signed in: a row a session, so that they see it and can end it."""

from datetime import datetime

from django.contrib.auth import SESSION_KEY
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.db import transaction
from django.utils import timezone

from jobs.models import SignedIn
from jobs.services.deed import What, deed_record


def session_seen(*, user: User, session_key: str, browser: str, address: str) -> None:
    """The row of a session, made where there is none; `browser` is what it calls itself."""
    about = {"user": user, "browser": _plain(browser)[:200], "address": _plain(address)[:45]}
    SignedIn.objects.update_or_create(session_key=session_key, defaults=about | {"seen_at": timezone.now()})


def session_forget(*, session_key: str) -> None:
    """It was signed out."""
    SignedIn.objects.filter(session_key=session_key).delete()


@transaction.atomic
def session_end(*, user: User, signed_in: SignedIn) -> None:
    Session.objects.filter(session_key=signed_in.session_key).delete()
    SignedIn.objects.filter(pk=signed_in.pk).delete()
    deed_record(user=user, what=What.ENDED, on=f"a session of {user.get_username()}")


@transaction.atomic
def sessions_end(*, user: User, but: str = "") -> int:
    """Every session of a member, or every other one than `but`; how many there were.

    The sessions themselves say whose they are: one of before the list was kept is found too.
    """
    theirs = [session.session_key for session in _live() if session.get_decoded().get(SESSION_KEY) == str(user.pk)]
    keys = [key for key in theirs if key != but]
    Session.objects.filter(session_key__in=keys).delete()
    SignedIn.objects.filter(user=user).exclude(session_key=but).delete()
    return len(keys)


def sessions_sweep(*, now: datetime) -> int:
    """Rows whose session is over; how many there were."""
    live = Session.objects.filter(expire_date__gt=now).values("session_key")
    return SignedIn.objects.exclude(session_key__in=live).delete()[0]


def _live() -> list[Session]:
    return list(Session.objects.filter(expire_date__gt=timezone.now()))


def _plain(text: str) -> str:
    """Without NUL, which PostgreSQL refuses in a text."""
    return text.replace("\0", "")
