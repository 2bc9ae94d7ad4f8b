"""Workers and their devices."""

from datetime import datetime

from django.utils import timezone

from jobs.models import ACTIVE_STATES, Run, Worker
from jobs.selectors.run import HELD_STATES


def workers_list(now: datetime | None = None) -> list[Worker]:
    """By name, each with `alive`, `run` (what it has) and `waiting` (how many wait); two queries, however many."""
    now = now or timezone.now()
    unended = Run.objects.filter(state__in=ACTIVE_STATES).select_related("profile").order_by("queued_at", "pk")
    runs: dict[int | None, list[Run]] = {}
    for run in unended:
        runs.setdefault(run.worker_id, []).append(run)
    return [_with_state(worker, runs.get(worker.pk, []), now) for worker in Worker.objects.order_by("name")]


def devices_for_form(now: datetime | None = None) -> list[Worker]:
    """As `workers_list`, to choose from: those alive first, graphics processors before processors."""
    return sorted(workers_list(now), key=lambda worker: (not worker.alive, worker.kind == "cpu", worker.name))


def worker_get(pk: int) -> Worker:
    """Raises Worker.DoesNotExist."""
    return Worker.objects.get(pk=pk)


def _with_state(worker: Worker, runs: list[Run], now: datetime) -> Worker:
    held = [run for run in runs if run.state in HELD_STATES]
    worker.alive = worker.is_alive(now)
    worker.run = held[0] if held else None
    worker.waiting = len(runs) - len(held)
    return worker
