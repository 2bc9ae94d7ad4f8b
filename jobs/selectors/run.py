"""Runs, as they stand in the database: the queue's truth too."""

from collections import Counter
from typing import Any

from django.db.models import Case, Q, QuerySet, When
from django.utils import timezone

from jobs.models import ACTIVE_STATES, TERMINAL_STATES, Run, RunState

_LARGE = ("environment", "error", "model_entry__record", "model_entry__spec", "profile__notes")
HELD_STATES = frozenset({RunState.RUNNING, RunState.CANCELLING})


def _runs() -> QuerySet[Run]:
    return Run.objects.select_related("profile", "model_entry", "worker", "submitted_by", "cancelled_by")


def run_get(pk: int) -> Run:
    """Raises Run.DoesNotExist."""
    return _runs().get(pk=pk)


def runs_recent(limit: int = 20) -> QuerySet[Run]:
    """What has ended, the latest first."""
    return _runs().filter(state__in=TERMINAL_STATES).order_by("-finished_at", "-pk")[:limit]


def runs_active() -> QuerySet[Run]:
    """What waits or runs, what runs first, in the order in which it will be done; without what is large."""
    waits = Case(When(state__in=HELD_STATES, then=0), default=1)
    return _runs().filter(state__in=ACTIVE_STATES).defer(*_LARGE).order_by(waits, "behind", "queued_at", "pk")


def waiting_before() -> dict[int, int]:
    """Of every run that waits or runs, in the order of runs_active: how many of the same worker come first."""
    found = runs_active().values_list("pk", "worker_id")
    seen: Counter[int | None] = Counter()
    before = {}
    for pk, worker in found:
        before[pk] = seen[worker]
        seen[worker] += 1
    return before


def runs_before(run: Run) -> int:
    """How many runs of the same worker come first: the one it has, and those that have waited longer."""
    mine = Run.objects.filter(worker=run.worker)
    as_long = Q(queued_at__lt=run.queued_at) | Q(queued_at=run.queued_at, pk__lt=run.pk)
    earlier = Q(behind__lt=run.behind) | Q(behind=run.behind) & as_long
    return mine.filter(Q(state__in=HELD_STATES) | Q(state=RunState.QUEUED) & earlier).exclude(pk=run.pk).count()


def queue_position(run: Run) -> int | None:
    """1: it is next. None: it does not wait."""
    return runs_before(run) + 1 if run.state == RunState.QUEUED else None


def queue_reason(run: Run, before: int | None = None) -> str:
    """Why it waits, in a sentence; empty where it does not. before: as runs_before, where it is known already."""
    if run.state != RunState.QUEUED:
        return ""
    worker = run.worker
    if worker is None:
        return "Its worker is gone: cancel it, and ask for another device."
    where = f"{worker.device} of {worker.host}"
    if not worker.is_alive(timezone.now()):
        return f"No worker for {where} has been seen since {worker.seen_at:%d %b %Y, %H:%M} UTC."
    if not worker.was_probed:
        return f"The worker for {where} is starting: it finds out first what its device can do."
    before = runs_before(run) if before is None else before
    if before:
        return f"{before} {'run' if before == 1 else 'runs'} before this one on {where}."
    return f"Next on {where}."


def events_after(run: Run, seq: int, limit: int = 500) -> list[dict[str, Any]]:
    """At most `limit` events numbered above `seq`, in order."""
    rows = run.events.filter(seq__gt=seq).order_by("seq")[:limit]
    return [{"seq": row.seq, "kind": row.kind, "data": row.data, "at": row.created_at.isoformat()} for row in rows]


def run_progress(run: Run, after: int, limit: int = 500) -> dict[str, Any]:
    """What a watcher who has the events up to `after` is sent next, by websocket and by polling alike."""
    position = queue_position(run)
    queue = None if position is None else {"position": position, "reason": queue_reason(run)}
    return {"events": events_after(run, after, limit), "state": run.state, "queue": queue}


def measurements_of(run: Run) -> list[dict[str, Any]]:
    """The contract's MEASUREMENTs, in the order in which they were made."""
    return [row.data for row in run.measurements.order_by("pk")]
