"""What a watcher may see now."""

from typing import Any

from jobs.models import Run
from jobs.selectors.account import session_user
from jobs.selectors.run import run_get, run_progress

BATCH_EVENTS = 500


class SignedOut(Exception):
    """The session is over."""


class Gone(Exception):
    """There is no such run."""


def progress(session_key: str | None, run_id: int, after: int) -> dict[str, Any]:
    """At most BATCH_EVENTS events after `after`; the session is looked up anew each time, for it may have ended."""
    if session_user(session_key) is None:
        raise SignedOut
    try:
        run = run_get(run_id)
    except (Run.DoesNotExist, OverflowError):
        raise Gone from None
    return run_progress(run, after, BATCH_EVENTS)
