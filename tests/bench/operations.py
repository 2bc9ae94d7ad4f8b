"""The portal's start and end."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.bench.row import Row, benchmark, worst_at_most
from tests.operations.portal_process import PortalProcess, wait_until

TIMES = 5
START_TARGET_S = 10.0
STOP_TARGET_S = 6.0
KILLED_TARGET_S = 6.0


@benchmark("live")
def start_and_stop() -> Iterator[Row]:
    starts, stops = [], []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(TIMES):
            with PortalProcess(Path(folder)) as portal:
                portal.address()
                starts.append(portal.started_s)
                stops.append(portal.stop())
                assert portal.left() == {}
    yield worst_at_most("live", "from `up` to the printed address", starts, "s", START_TARGET_S)
    yield worst_at_most("live", "from Ctrl-C to the last process gone", stops, "s", STOP_TARGET_S)


@benchmark("live")
def killed() -> Iterator[Row]:
    gone = []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(2):
            with PortalProcess(Path(folder)) as portal:
                portal.address()
                portal.process.kill()
                portal.process.wait()
                gone.append(wait_until(lambda: not portal.left()))
    yield worst_at_most("live", "from kill -9 of the portal to its last process gone", gone, "s", KILLED_TARGET_S)
