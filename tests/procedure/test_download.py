"""A model whose files come over a network is downloaded before the four stages, once."""

from io import StringIO
from typing import Any

from jobs.management.progress import Progress
from jobs.procedure.events import Event, EventKind
from tests.procedure.worlds import World, answered, question, record

DOWNLOAD = {"bytes": 2 * 2**30, "fetched_bytes": 2**30, "seconds": 30.0, "revision": "5" * 40}


def test_a_download_is_a_stage_of_its_own_before_the_budgets() -> None:
    run = answered(World(asked=question(), record=record(), downloads=True))
    marks = [(str(e.kind), e.data["stage"]) for e in run.events if e.kind.startswith("stage")]
    assert marks[:3] == [("stage_started", "download"), ("stage_finished", "download"), ("stage_started", "budgets")]
    assert run.stages["download"]["bytes"] == 2 * 2**30
    kinds = [event.kind for event in run.events]
    assert kinds.index(EventKind.STAGE_FINISHED) < kinds.index(EventKind.LOADED)


def test_a_model_that_is_here_downloads_nothing() -> None:
    assert "download" not in answered(World(asked=question(), record=record())).stages


def told(**changes: Any) -> list[str]:
    stream = StringIO()
    progress = Progress(stream=stream)
    progress.event(Event(kind=EventKind.STAGE_STARTED, data={"stage": "download"}))
    progress.event(Event(kind=EventKind.STAGE_FINISHED, data={"stage": "download", "result": DOWNLOAD | changes}))
    return stream.getvalue().splitlines()


def test_a_terminal_is_told_what_was_downloaded_and_what_was_here() -> None:
    assert told() == ["Download", "  1 GiB of 2 GiB downloaded in 30.0 s"]
    assert told(fetched_bytes=0) == ["Download", "  nothing to download: all 2 GiB were here"]
