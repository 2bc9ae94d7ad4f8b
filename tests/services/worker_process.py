"""A real Celery worker of a device, over the test database and a real Valkey."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import monotonic, sleep

from django.db import connection

from jobs.models.worker import queue_name

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_S = 30.0
HOST = "testbox"


class WorkerProcess:
    """A context manager; `log` is what it printed. Ended by killing it and its child, if the test did not."""

    def __init__(self, *, valkey_url: str, measuring_python: Path, folder: Path, options: tuple[str, ...] = ()) -> None:
        self.log_path = folder / "worker.log"
        pool = options or ("-P", "prefork", "-c", "1")
        self.command = [sys.executable, "-m", "celery", "-A", "kvportal", "worker", "-Q", queue_name("cpu", HOST)]
        self.command += [*pool, "-n", "cpu@testbox", "--without-gossip", "--without-mingle", "--loglevel", "INFO"]
        self.environment = os.environ | {
            "DJANGO_SETTINGS_MODULE": "kvportal.settings",
            "DATABASE_URL": rows_url(),
            "REDIS_URL": valkey_url,
            "KVPORTAL_DEVICE": "cpu",
            "WORKER_HOST": HOST,
            "MEASURING_PYTHON": str(measuring_python),
        }

    def __enter__(self) -> "WorkerProcess":
        with self.log_path.open("a") as log:
            self.process = subprocess.Popen(
                self.command, cwd=ROOT, env=self.environment, stdout=log, stderr=log, start_new_session=True
            )
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    @property
    def log(self) -> str:
        return self.log_path.read_text()

    @property
    def child_pids(self) -> list[int]:
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return [int(pid) for pid in children.read_text().split()]


def rows_url() -> str:
    """Where the test's rows are, for another process."""
    given = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{given['NAME']}"
    return f"postgres://postgres@/{given['NAME']}?host={given['OPTIONS']['host']}"


def is_alive(pid: int) -> bool:
    """A zombie is dead: whoever should bury it is the test's own environment."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def until(true: Callable[[], object], worker: WorkerProcess | None = None, patience_s: float = PATIENCE_S) -> float:
    """Wait for it, in small steps; the seconds that it took."""
    began = monotonic()
    while not true():
        took = monotonic() - began
        dead = worker is not None and worker.process.poll() is not None
        assert took < patience_s and not dead, f"not within {patience_s} s: {worker.log if worker else ''}"
        sleep(0.02)
    return monotonic() - began
