"""What follows from a new password: no other session goes on."""

from django.contrib.auth.models import User
from django.db import transaction

from jobs.models import SignedIn
from jobs.services.deed import What, deed_record
from jobs.services.session import sessions_end


@transaction.atomic
def password_changed(*, user: User, session_key: str = "", was_key: str = "") -> None:
    """session_key: the one session that stays, which had another key before the change."""
    if was_key:
        SignedIn.objects.filter(session_key=was_key).update(session_key=session_key)
    sessions_end(user=user, but=session_key)
    deed_record(user=user, what=What.CHANGED_PASSWORD, on=user.get_username())
