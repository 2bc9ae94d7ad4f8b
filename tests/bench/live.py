"""From a worker's writing to a watcher's reading, and from a wish to stop to the end."""

import json
import os
import signal
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from tests.bench.row import Row, benchmark, median_at_most, worst_at_most
from tests.bench.seeded_portal import SeededPortal, seeded_portal, this_worker
from tests.operations.portal_process import wait_until

if TYPE_CHECKING:
    from websockets.sync.client import ClientConnection

    from jobs.models import Run

REACHED_TARGET_MS = 250.0
CANCELLED_TARGET_S = 2.0
ORPHAN_TARGET_S = 5.0
TIMES = 3
MEASURING_PATIENCE_S = 180.0


@benchmark("live")
def watching() -> Iterator[Row]:
    portal = seeded_portal()
    from tests.browser import demo

    run = demo.begin()
    with _watch(portal, run) as socket:
        _wait_for_kind(socket, "state")
        reached_ms = list(_measurements_ms(socket, run))
    demo.finish(run)
    yield median_at_most("live", "a measurement reaches a watcher", reached_ms, "ms", REACHED_TARGET_MS)


def _watch(portal: SeededPortal, run: int) -> "ClientConnection":
    from websockets.sync.client import connect

    address = portal.address.replace("http:", "ws:") + f"/ws/runs/{run}/?after=0"
    return connect(address, additional_headers={"Cookie": portal.cookie, "Origin": portal.address})


def _wait_for_kind(socket: "ClientConnection", kind: str) -> list[dict[str, object]]:
    while True:
        events = [event for event in json.loads(socket.recv(timeout=10))["events"] if event["kind"] == kind]
        if events:
            return events


def _measurements_ms(socket: "ClientConnection", run: int) -> Iterator[float]:
    """Tell the run on from measurement to measurement, and wait for each."""
    from tests.browser import demo

    measured = 0
    while (now := demo.tell(run, until="measurement")) > measured:
        measured = now
        (event, *_) = _wait_for_kind(socket, "measurement")
        yield (time.time() - datetime.fromisoformat(str(event["at"])).timestamp()) * 1000


@benchmark("live")
def stopping() -> Iterator[Row]:
    portal = seeded_portal()
    cancelled, orphans = [], []
    for _ in range(TIMES):
        run, measuring = _measuring_run(portal)
        cancelled.append(_cancel(run, measuring))
    for _ in range(TIMES):
        run, measuring = _measuring_run(portal)
        orphans.append(_kill_worker(portal, measuring))
        _cancel(run, measuring)
    yield worst_at_most("live", "from cancelling to the measuring process gone", cancelled, "s", CANCELLED_TARGET_S)
    yield worst_at_most("live", "from kill -9 of a worker to its process gone", orphans, "s", ORPHAN_TARGET_S)


def _measuring_run(portal: SeededPortal) -> "tuple[Run, int]":
    """A run on the real worker, in the middle of measuring, and its process."""
    from jobs.models import Event, ModelEntry
    from jobs.procedure.question import Question
    from jobs.services.model_entry import model_entry_request
    from jobs.services.run import run_submit
    from jobs.sizing.strategy import Strategy

    entry = model_entry_request(text="SmolLM2-135M")
    wait_until(lambda: ModelEntry.objects.get(pk=entry.pk).state == "ready", MEASURING_PATIENCE_S)
    question = Question(
        model="SmolLM2-135M",
        prompt_tokens=4096,
        typical_prompt_tokens=2048,
        answer_tokens=128,
        strategies=(Strategy.parse("quantized:hqq:4"),),
        compare_anyway=True,
    )
    entry.refresh_from_db()
    run = run_submit(user=None, name="bench", entry=entry, question=question, worker=this_worker())
    told = Event.objects.filter(run=run, kind="measuring")
    wait_until(told.exists, MEASURING_PATIENCE_S)
    return run, _measuring_pid(portal)


def _measuring_pid(portal: SeededPortal) -> int:
    (pid,) = [pid for pid, command in portal.process.tree().items() if "jobs.measuring" in command]
    return pid


def _gone(pid: int) -> bool:
    return not Path(f"/proc/{pid}").exists()


def _cancel(run: "Run", measuring: int) -> float:
    from jobs.models import Run
    from jobs.services.run import run_cancel

    began_s = time.monotonic()
    run_cancel(run=Run.objects.get(pk=run.pk), user=None)
    wait_until(lambda: _gone(measuring), 10)
    took_s = time.monotonic() - began_s
    wait_until(lambda: Run.objects.get(pk=run.pk).state == "cancelled", 30)
    return took_s


def _kill_worker(portal: SeededPortal, measuring: int) -> float:
    """The worker's main process, which comes before the one it forks."""
    worker = min(pid for pid, command in portal.process.tree().items() if "-Q device." in command)
    os.kill(worker, signal.SIGKILL)
    return wait_until(lambda: _gone(measuring), 10)
