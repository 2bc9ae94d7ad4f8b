"""Who did what, kept with what was done."""

from enum import StrEnum

from django.contrib.auth.models import User

from jobs.models import Deed, Profile, Run

SCHEDULE = "the schedule"
PROGRAM = "the command line"


class What(StrEnum):
    """As the list prints it: “ada adopted 2,048 for Llama on an L4”."""

    SUBMITTED = "submitted"
    RECHECKED = "rechecked"
    CANCELLED = "cancelled"
    EDITED = "edited"
    ARCHIVED = "archived"
    RESTORED = "restored"
    ADOPTED = "adopted"
    WITHDREW = "withdrew"
    SHARED = "shared"
    REVOKED = "revoked"
    INVITED = "invited"
    JOINED = "joined"
    CHANGED_ROLE = "changed the role of"
    ENDED = "ended"  # an account, a session
    REOPENED = "reopened"  # an account that was ended
    MADE_PASSWORD_LINK = "made a password link for"  # noqa: S105  (a deed's name)
    CHANGED_PASSWORD = "changed the password of"  # noqa: S105  (a deed's name)
    CHANGED_NOTICES = "changed the notices of"
    MADE_TOKEN = "made a token"  # noqa: S105  (a deed's name)


def deed_record(
    *,
    user: User | None,
    what: What,
    on: str,
    about: str = "",
    profile: Profile | None = None,
    run: Run | None = None,
    without_user: str = SCHEDULE,
) -> Deed:
    """Call it in the transaction of the deed. `without_user` names the doer where there is no `user`."""
    return Deed.objects.create(
        user=user,
        who=user.get_username() if user else without_user,
        what=str(what),
        on=on[:200],
        about=about[:600],
        profile=profile or (run.profile if run else None),
        run=run,
    )
