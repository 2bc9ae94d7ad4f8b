"""A portal started as `make run` starts it, with a folder, a port and a mark of its own."""

import os
import secrets
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from queue import Empty, Queue
from types import TracebackType
from typing import Self

ROOT = Path(__file__).resolve().parents[2]
MARK = "KVPORTAL_TEST_MARK"
LINE_START = "KV Portal: "
START_PATIENCE_S = 50.0  # five times the bound
STOP_PATIENCE_S = 30.0
NOT_PASSED_ON = {"REDIS_URL", "DATABASE_URL", "DJANGO_SETTINGS_MODULE"}  # a test run's own


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class PortalProcess:
    """`started_s` is from the command to the printed address; every process of it carries the mark."""

    def __init__(self, data: Path, *, port: int | None = None, options: tuple[str, ...] = (), **more: str) -> None:
        self.port = port or free_port()
        self.mark = secrets.token_hex(8)
        self.said: list[str] = []
        self.started_s = 0.0
        self._lines: Queue[str] = Queue()
        kept = {name: value for name, value in os.environ.items() if name not in NOT_PASSED_ON}
        self._began_s = time.monotonic()
        self.process = subprocess.Popen(
            [sys.executable, "manage.py", "up", "--stop-with-parent", *options],
            cwd=ROOT,
            env={**kept, "DATA": str(data), "PORT": str(self.port), "DEVICES": "cpu", MARK: self.mark, **more},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        threading.Thread(target=self._read, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        wait_until(lambda: not self.left())

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self._lines.put(line.rstrip("\n"))
        self.process.stdout.close()

    def address(self) -> str:
        """What stands behind `KV Portal: `, once it is printed."""
        return self._line(LINE_START)

    def ready(self) -> None:
        """A part without a page says so otherwise."""
        self._line("Ready.")

    def _line(self, start: str) -> str:
        until_s = self._began_s + START_PATIENCE_S
        while time.monotonic() < until_s:
            try:
                line = self._lines.get(timeout=0.1)
            except Empty:
                if self.process.poll() is not None:
                    break
                continue
            self.said.append(line)
            if line.startswith(start):
                self.started_s = time.monotonic() - self._began_s
                return line.removeprefix(start)
        raise AssertionError(f"no line {start!r} was printed:\n" + "\n".join(self.said))

    def stop(self, number: signal.Signals = signal.SIGINT) -> float:
        """Seconds until it has ended."""
        began_s = time.monotonic()
        self.process.send_signal(number)
        self.process.wait(timeout=STOP_PATIENCE_S)
        return time.monotonic() - began_s

    def words(self) -> str:
        """All it said, once it has ended."""
        self.process.wait(timeout=START_PATIENCE_S)
        while True:
            try:
                self.said.append(self._lines.get(timeout=0.2))
            except Empty:
                return "\n".join(self.said)

    def left(self) -> dict[int, str]:
        """Every process that carries the mark, itself included: number and command."""
        return {pid: command for pid, command in marked(self.mark).items() if pid != os.getpid()}

    def tree(self) -> dict[int, str]:
        """Every process that descends from it, whatever its environment: number and command."""
        return descendants(self.process.pid)


def descendants(pid: int) -> dict[int, str]:
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue  # it has just ended
        children.setdefault(parent, []).append(int(entry.name))
    found, ahead = {}, [pid]
    while ahead:
        for child in children.get(ahead.pop(), []):
            ahead.append(child)
            found[child] = command_of(child)
    return found


def command_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


def marked(mark: str) -> dict[int, str]:
    found = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if f"{MARK}={mark}".encode() in (entry / "environ").read_bytes():
                found[int(entry.name)] = command_of(int(entry.name))
        except OSError:
            continue  # it has just ended
    return found


def wait_until(holds: Callable[[], bool], patience_s: float = 10.0) -> float:
    """Seconds until it holds; an AssertionError where it does not in time."""
    began_s = time.monotonic()
    while not holds():
        if time.monotonic() - began_s > patience_s:
            raise AssertionError(f"did not come true within {patience_s} s")
        threading.Event().wait(0.02)
    return time.monotonic() - began_s
