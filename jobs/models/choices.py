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
