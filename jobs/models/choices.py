"""States, with their legal transitions in one table."""

from django.db.models import TextChoices


class RunState(TextChoices):
    QUEUED = "queued", "queued"
    RUNNING = "running", "running"
    CANCELLING = "cancelling", "cancelling"
    DONE = "done", "done"
    FAILED = "failed", "failed"
    CANCELLED = "cancelled", "cancelled"
    LOST = "lost", "lost"


ACTIVE_STATES = frozenset({RunState.QUEUED, RunState.RUNNING, RunState.CANCELLING})
TERMINAL_STATES = frozenset({RunState.DONE, RunState.FAILED, RunState.CANCELLED, RunState.LOST})
TRANSITIONS: dict[RunState, frozenset[RunState]] = {
    RunState.QUEUED: frozenset({RunState.RUNNING, RunState.CANCELLED}),
    RunState.RUNNING: frozenset(
        {RunState.QUEUED, RunState.CANCELLING, RunState.DONE, RunState.FAILED, RunState.CANCELLED, RunState.LOST}
    ),
    RunState.CANCELLING: frozenset({RunState.CANCELLED, RunState.DONE, RunState.FAILED, RunState.LOST}),
    RunState.DONE: frozenset(),
    RunState.FAILED: frozenset(),
    RunState.CANCELLED: frozenset(),
    RunState.LOST: frozenset(),
}


class EntryState(TextChoices):
    """How far the inspection of a model got."""

    WAITING = "waiting", "waiting"
    READY = "ready", "ready"
    REFUSED = "refused", "refused"


class Purpose(TextChoices):
    """Why a run was asked for."""

    ASKED = "asked", "asked"
    RECHECK = "recheck", "recheck"
    NIGHT = "night", "recheck at night"  # asked for by the schedule: behind people's runs, on an idle device alone


class Freshness(TextChoices):
    """Whether a profile's answer still holds."""

    NONE = "", "no answer"
    FRESH = "fresh", "fresh"
    DOUBT = "doubt", "in doubt"
    STALE = "stale", "stale"


class Role(TextChoices):
    """What a member of the team may do: each may do what the one before may."""

    VIEWER = "viewer", "viewer"
    MEMBER = "member", "member"
    ADMIN = "admin", "admin"


class TokenScope(TextChoices):
    READ = "read", "read"
    WRITE = "write", "read and write"


class Notify(TextChoices):
    """When the end of a profile's run is told by e-mail and webhook."""

    ALWAYS = "always", "always"
    FAILURE = "failure", "on failure"
    CHANGED = "changed", "when the limit changed"
    NEVER = "never", "never"


class Channel(TextChoices):
    EMAIL = "email", "e-mail"
    WEBHOOK = "webhook", "webhook"


class NoticeState(TextChoices):
    WAITING = "waiting", "waiting"
    SENT = "sent", "sent"
    FAILED = "failed", "failed"
