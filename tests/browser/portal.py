"""A whole portal for a browser to visit: a private Valkey, a database file, uvicorn, and a hand in another process.

The hand writes to the database as a worker would, from outside of the server, so that what reaches the browser came
through Valkey. It is asked by JSON lines: {"call": a function of tests.browser.demo, or "demo_recheck.begin" of another
module there, "with": its arguments}.
"""

import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any

from tests.operations.portal_process import free_port
from tests.valkey import running_valkey

ROOT = Path(__file__).resolve().parents[2]
START_S = 40.0


class Portal:
    """A context manager; `url` is its address."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.url = ""
        self._stack = ExitStack()
        self._processes: list[subprocess.Popen[str]] = []

    def __enter__(self) -> "Portal":
        try:
            self._start()
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()

    def ask(self, call: str, **arguments: Any) -> Any:
        """Have the hand do something and wait until it is done."""
        assert self._hand.stdin
        assert self._hand.stdout
        self._hand.stdin.write(json.dumps({"call": call, "with": arguments}) + "\n")
        self._hand.stdin.flush()
        line = self._hand.stdout.readline()
        if not line:
            raise RuntimeError(f"the hand is gone; see {self.folder / 'hand.log'}")
        return json.loads(line)

    def _start(self) -> None:
        self._environment = os.environ | {
            "DATA": str(self.folder),
            "DATABASE_URL": f"sqlite:///{self.folder / 'browser.sqlite3'}",
            "REDIS_URL": self._stack.enter_context(running_valkey()),
            "DJANGO_SETTINGS_MODULE": "tests.browser.settings",
        }
        self._environment.pop("KVPORTAL_TEST_DATABASE", None)
        subprocess.run([sys.executable, "manage.py", "migrate", "-v", "0"], cwd=ROOT, env=self._environment, check=True)
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        server = ["-m", "uvicorn", "kvportal.asgi:application", "--port", str(port), "--log-level", "warning"]
        self._run("server", [sys.executable, *server])
        self._hand = self._run("hand", [sys.executable, "-m", "tests.browser.hand"])
        self._wait()

    def _run(self, name: str, command: list[str]) -> "subprocess.Popen[str]":
        with (self.folder / f"{name}.log").open("w") as log:
            talks = name == "hand"
            process = subprocess.Popen(
                command,
                cwd=ROOT,
                env=self._environment,
                stdin=subprocess.PIPE if talks else subprocess.DEVNULL,
                stdout=subprocess.PIPE if talks else log,
                stderr=log,
                text=True,
            )
        self._processes.append(process)
        return process

    def _wait(self) -> None:
        """Until the server answers."""
        deadline = time.monotonic() + START_S
        while time.monotonic() < deadline:
            try:
                with urllib.request.urlopen(f"{self.url}/healthz", timeout=1):  # noqa: S310  (our own address)
                    return
            except (urllib.error.URLError, ConnectionError, TimeoutError):
                self._processes[-2].poll()
                if self._processes[-2].returncode is not None:
                    break
                time.sleep(0.05)
        raise RuntimeError(f"the server did not start: {(self.folder / 'server.log').read_text()[-2000:]}")

    def _stop(self) -> None:
        for process in reversed(self._processes):
            for pipe in (process.stdin, process.stdout):
                if pipe:
                    pipe.close()
            process.terminate()
        for process in reversed(self._processes):
            try:
                process.wait(timeout=8)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._stack.close()
