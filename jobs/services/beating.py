"""The heartbeat of a run, from a thread of its own while the measuring goes on."""

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import DatabaseError, connection
from django.utils import timezone

from jobs.models import Run
from jobs.models.heartbeat import BEAT_EVERY_S
from jobs.services.record import held_by

logger = logging.getLogger(__name__)


def run_beat(*, run_id: int, lease: str) -> bool:
    """False where the lease is no longer good."""
    return bool(Run.objects.filter(held_by(lease), pk=run_id).update(seen_at=timezone.now()))


@contextmanager
def beating(*, run_id: int, lease: str, every_s: float = BEAT_EVERY_S) -> Iterator[None]:
    over = threading.Event()
    thread = threading.Thread(target=_beat, args=(run_id, lease, every_s, over), name=f"beat-{run_id}", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _beat(run_id: int, lease: str, every_s: float, over: threading.Event) -> None:
    """Until `over` or the lease is lost; a database that is away for a moment is tried again."""
    while not over.wait(every_s):
        try:
            if not run_beat(run_id=run_id, lease=lease):
                return
        except DatabaseError as error:
            logger.warning("run %s could not beat: %s", run_id, error)
        finally:
            connection.close()
