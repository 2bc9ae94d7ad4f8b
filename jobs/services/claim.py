"""A worker takes a run by one conditional update, and the run comes back when the worker dies."""

import secrets
from dataclasses import dataclass
from functools import partial

from django.db import IntegrityError, transaction
from django.db.models import F, Q
from django.utils import timezone

from jobs.models import Run, RunState, Worker
from jobs.models.heartbeat import MOST_ATTEMPTS
from jobs.services.run_state import HELD, run_move
from jobs.services.wake import run_wake_send
from jobs.sizing.refusal import Refusal


@dataclass(frozen=True, kw_only=True)
class Claim:
    """Whoever holds the lease may write the run, nobody else."""

    run_id: int
    lease: str


def run_claim(*, worker: Worker) -> Claim | None:
    """The oldest run queued for this worker. None: nothing waits, it has one already, another was faster, or what it
    can do is still being asked, which would disturb a measurement."""
    if not worker.was_probed:
        return None
    queued = Run.objects.filter(worker=worker, state=RunState.QUEUED).order_by("behind", "queued_at", "pk")
    run_id = queued.values_list("pk", flat=True).first()
    if run_id is None:
        return None
    lease = secrets.token_hex(20)
    now = timezone.now()
    try:
        taken = run_move(
            run_id=run_id,
            to=RunState.RUNNING,
            when=Q(state=RunState.QUEUED, worker=worker),
            message=f"Taken by {worker.device} of {worker.host}.",
            lease=lease,
            attempts=F("attempts") + 1,
            started_at=now,
            seen_at=now,
        )
    except IntegrityError:  # worker_has_one_run_at_a_time
        return None
    return Claim(run_id=run_id, lease=lease) if taken else None


def runs_give_back(*, worker: Worker, why: str = "Its worker died", counts: bool = True) -> int:
    """Put back what this worker's earlier process held: that process is gone. Returns how many runs moved."""
    held = Run.objects.filter(HELD, worker=worker)
    return sum(run_give_back(run=run, why=why, counts=counts) for run in held)


def run_give_back(*, run: Run, why: str = "Its worker died", counts: bool = True) -> bool:
    """Move a run whose worker is gone, measurements kept: back to the queue after the first time, lost after the
    last, cancelled where that was wanted. `counts` is False for an orderly stop. False where it moved meanwhile."""
    as_seen = Q(state=run.state, lease=run.lease)
    if run.state == RunState.CANCELLING:
        message = f"Cancelled. {why} before it could say so."
        return run_move(run_id=run.pk, to=RunState.CANCELLED, when=as_seen, message=message)
    if counts and run.attempts >= MOST_ATTEMPTS:
        return _lose(run, as_seen, why)
    with transaction.atomic():
        moved = run_move(
            run_id=run.pk,
            to=RunState.QUEUED,
            when=as_seen,
            message=f"{why}; back in the queue, measurements kept.",
            lease="",
            attempts=run.attempts if counts else run.attempts - 1,
        )
        if moved:
            transaction.on_commit(partial(run_wake_send, run_id=run.pk, queue=run.queue))
    return moved


def _lose(run: Run, as_seen: Q, why: str) -> bool:
    message = f"{why} twice." if run.attempts == 2 else f"{why} {run.attempts} times."
    hint = "See the worker's log for why, then run it again; a smaller capacity or context may help."
    error = Refusal("worker_lost", message, hint).as_json()
    return run_move(run_id=run.pk, to=RunState.LOST, when=as_seen, message=message, error=error)
