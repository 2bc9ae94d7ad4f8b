"""A run moves from state to state, and tells each step: one transaction, one numbered event."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from jobs.models import TERMINAL_STATES, TRANSITIONS, Event, Run, RunState
from jobs.procedure.events import EventKind
from jobs.services.ending import run_ended
from jobs.services.nudge import run_nudge
from jobs.services.presentable import presentable

HELD = Q(state__in=[RunState.RUNNING, RunState.CANCELLING])


def event_append(*, run_id: int, when: Q, kind: EventKind, data: Mapping[str, Any], **changes: Any) -> int | None:
    """Where the run still is as `when` says: change it and give the event its number. None: it no longer is.

    The row stays locked until the commit, so numbers become visible in order and without gaps.
    """
    with transaction.atomic():
        if not Run.objects.filter(when, pk=run_id).update(last_seq=F("last_seq") + 1, **changes):
            return None
        seq = Run.objects.values_list("last_seq", flat=True).get(pk=run_id)
        Event.objects.create(run_id=run_id, seq=seq, kind=str(kind), data=presentable(data))
        transaction.on_commit(partial(run_nudge, run_id))
    return seq


def run_move(*, run_id: int, to: RunState, when: Q, message: str, **changes: Any) -> bool:
    """Move the run by a legal transition, with its event; False where `when` or the table forbids it."""
    before = [state for state, after in TRANSITIONS.items() if to in after]
    if to in TERMINAL_STATES:
        changes |= {"finished_at": timezone.now(), "lease": ""}
    data = {"state": str(to), "message": message}
    legal = when & Q(state__in=before)
    with transaction.atomic():
        seq = event_append(run_id=run_id, when=legal, kind=EventKind.STATE, data=data, state=to, **changes)
        if seq is not None and to in TERMINAL_STATES:
            run_ended(run_id=run_id)
    return seq is not None
