"""A device worker's life beside its tasks: it registers, beats, says what it can do, and says goodbye.

Registration happens with what is known without torch; the measuring process is asked in a thread, since that takes
seconds. The main process beats, so that an idle worker is seen alive; its child beats for the run it has.
"""

import ctypes
import logging
import os
import signal
import threading
from collections.abc import Callable
from functools import partial
from typing import Any

from celery.signals import celeryd_init, worker_init, worker_process_init, worker_ready, worker_shutting_down
from django.conf import settings
from django.db import DatabaseError, connection

from jobs.device_facts import device_facts
from jobs.models import Run, RunState, Worker
from jobs.models.heartbeat import BEAT_EVERY_S
from jobs.models.worker import worker_name
from jobs.running.devices import probe
from jobs.running.process import ProcessDied, ProcessHung
from jobs.services.claim import runs_give_back
from jobs.services.measuring import measuring_refusal, measuring_start
from jobs.services.wake import run_wake_send
from jobs.services.worker import worker_beat, worker_probe_failed, worker_probed, worker_register
from jobs.sizing.refusal import Refusal

logger = logging.getLogger(__name__)
PR_SET_PDEATHSIG = 1
INSPECTING_NICENESS = 10
over = threading.Event()


@celeryd_init.connect
def refuse_unfit_pool(options: dict[str, Any], **_: Any) -> None:
    """A device's worker is one forked process: another could not be cancelled, or would measure beside itself."""
    if not settings.KVPORTAL_DEVICE:
        return
    pool, processes = options.get("pool"), options.get("concurrency")
    pool_name = getattr(pool, "__module__", pool)
    if "prefork" not in str(pool_name) or processes != 1:
        raise SystemExit(
            f"A worker of a device takes -P prefork -c 1, not -P {pool_name} -c {processes}: "
            "only so can a measurement be cancelled, and is it alone on its device."
        )


@worker_init.connect
def worker_begins(**_: Any) -> None:
    """Before the first task, so that none is begun on what an earlier start knew."""
    if settings.KVPORTAL_DEVICE:
        _attempt(_register)


@worker_process_init.connect
def child_started(**_: Any) -> None:
    """The child dies with its parent. A new child of a device means that the one before is gone, with its run.

    One that inspects gives way to those that measure.
    """
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if not settings.KVPORTAL_DEVICE:
        os.nice(INSPECTING_NICENESS)
    worker = _worker()
    if worker is not None:
        runs_give_back(worker=worker)


@worker_ready.connect
def worker_started(**_: Any) -> None:
    if settings.KVPORTAL_DEVICE:
        _in_thread(_live)


@worker_shutting_down.connect
def worker_stops(how: str, **_: Any) -> None:
    """A warm stop lets the run end first. A cold one puts it back, and since nobody died that costs no attempt."""
    if how != "Cold":
        return
    over.set()
    worker = _worker()
    if worker is not None:
        runs_give_back(worker=worker, why="Its worker was stopped", counts=False)


def _worker() -> Worker | None:
    return (
        Worker.objects.filter(name=worker_name(settings.KVPORTAL_DEVICE)).first() if settings.KVPORTAL_DEVICE else None
    )


def _live() -> None:
    """Ask what it can do, and beat until the end; a database that is away is tried again."""
    _in_thread(_ask_what_it_can_do)
    while not over.is_set():
        _attempt(_beat)
        over.wait(BEAT_EVERY_S)


def _beat() -> None:
    if not worker_beat(name=worker_name(settings.KVPORTAL_DEVICE)):
        _register()
        _in_thread(_ask_what_it_can_do)


def _register() -> None:
    worker = worker_register(device=settings.KVPORTAL_DEVICE, **device_facts(settings.KVPORTAL_DEVICE))
    logger.info("%s is registered and listens on %s", worker.name, worker.queue)


def _ask_what_it_can_do() -> None:
    """Before the first run, which it would disturb."""
    name = worker_name(settings.KVPORTAL_DEVICE)
    try:
        found = probe(settings.KVPORTAL_DEVICE, start=measuring_start)
    except (Refusal, ProcessDied, ProcessHung) as error:
        refusal = error if isinstance(error, Refusal) else measuring_refusal(error)
        logger.warning("%s could not be probed: %s %s", name, refusal.message, refusal.hint)
        keep = partial(worker_probe_failed, name=name, refusal=refusal)
    else:
        keep = partial(worker_probed, name=name, probe=found)
    while not _attempt(keep) and not over.wait(BEAT_EVERY_S):
        pass
    _attempt(_wake_what_waits)


def _wake_what_waits() -> None:
    worker = _worker()
    waiting = Run.objects.filter(worker=worker, state=RunState.QUEUED).order_by("queued_at", "pk").first()
    if waiting is not None:
        run_wake_send(run_id=waiting.pk, queue=waiting.queue)


def _attempt(do: Callable[[], None]) -> bool:
    """Each on a connection of its own, closed at once: a fork must not find one open."""
    try:
        do()
    except DatabaseError as error:
        logger.warning("the database could not be reached: %s", error)
        return False
    finally:
        connection.close()
    return True


def _in_thread(target: Callable[[], None]) -> None:
    threading.Thread(target=target, name=target.__name__, daemon=True).start()
