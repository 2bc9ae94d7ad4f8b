"""Finds what a dead worker or a lost message left lying, and sets it going again."""

from dataclasses import asdict, dataclass
from datetime import datetime, timedelta

from django.db.models import Q
from django.utils import timezone

from jobs.models import EntryState, ModelEntry, Run, RunState
from jobs.models.heartbeat import LOST_AFTER_S, WAKE_AGAIN_AFTER_S, silent_since
from jobs.services.claim import run_give_back
from jobs.services.model_entry import MOST_INSPECTIONS, model_entry_give_up
from jobs.services.notice import notices_sweep
from jobs.services.run_state import HELD
from jobs.services.session import sessions_sweep
from jobs.services.wake import model_inspect_send, run_wake_send


@dataclass(frozen=True, kw_only=True)
class Swept:
    """How many: runs taken from dead workers, runs and inspections woken again, models given up,
    rows of sessions that are over, notices asked for again."""

    given_back: int
    runs_woken: int
    inspections_woken: int
    given_up: int
    sessions_gone: int = 0
    notices_woken: int = 0

    def __bool__(self) -> bool:
        return any(asdict(self).values())

    def __str__(self) -> str:
        return ", ".join(f"{name.replace('_', ' ')}: {count}" for name, count in asdict(self).items())


def run_sweep(
    *,
    now: datetime | None = None,
    lost_after_s: float = LOST_AFTER_S,
    wake_after_s: float = WAKE_AGAIN_AFTER_S,
) -> Swept:
    """One round, as of `now`."""
    now = now or timezone.now()
    silent = silent_since(now, lost_after_s)
    unanswered = now - timedelta(seconds=wake_after_s)
    given_back = sum(run_give_back(run=run) for run in Run.objects.filter(HELD, seen_at__lt=silent))
    given_up = 0
    inspections = 0
    for entry in ModelEntry.objects.filter(_unanswered(unanswered), state=EntryState.WAITING):
        if entry.attempts >= MOST_INSPECTIONS:
            model_entry_give_up(entry=entry)
            given_up += 1
        else:
            model_inspect_send(entry_id=entry.pk)
            inspections += 1
    woken = [run_wake_send(run_id=run.pk, queue=run.queue) for run in _forgotten(silent, unanswered)]
    return Swept(
        given_back=given_back,
        runs_woken=len(woken),
        inspections_woken=inspections,
        given_up=given_up,
        sessions_gone=sessions_sweep(now=now),
        notices_woken=notices_sweep(now=now),
    )


def _unanswered(since: datetime) -> Q:
    return Q(woken_at__lt=since) | Q(woken_at=None)


def _forgotten(silent: datetime, unanswered: datetime) -> list[Run]:
    """The oldest queued run of each worker that lives and has nothing to do."""
    busy = Run.objects.filter(HELD).values("worker")
    queued = Run.objects.filter(state=RunState.QUEUED, worker__seen_at__gte=silent).exclude(worker__in=busy)
    oldest: dict[int | None, Run] = {}
    for run in queued.order_by("behind", "queued_at", "pk"):
        oldest.setdefault(run.worker_id, run)
    return [run for run in oldest.values() if run.woken_at is None or run.woken_at < unanswered]
