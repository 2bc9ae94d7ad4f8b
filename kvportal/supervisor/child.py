"""One started process of a service: its log, its end, when it may be started again."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from kvportal.env import BASE_DIR
from kvportal.supervisor.service import Service

WITH_PARENT = Path(__file__).with_name("with_parent.py")
FIRST_WAIT_S = 1.0
LONGEST_WAIT_S = 30.0
STEADY_S = 60.0  # who has run this long begins with the first wait again
LAST_WORDS_BYTES = 4_000
LAST_WORDS_CHARACTERS = 200


class Child:
    def __init__(self, service: Service, *, environment: Mapping[str, str], logs_dir: Path) -> None:
        self.service = service
        self.log_path = logs_dir / f"{service.name}.log"
        self.failures = 0
        self._environment = {**os.environ, **environment, **service.environment}
        self._process: subprocess.Popen[bytes] | None = None
        self._started_s = 0.0
        self._start_again_s = 0.0

    def start(self) -> None:
        # A session of its own: Ctrl-C reaches the supervisor alone, which stops its children in order.
        with self.log_path.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", str(WITH_PARENT), str(os.getpid()), *self.service.argv],
                cwd=BASE_DIR,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._started_s = time.monotonic()

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    @property
    def runs(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def watch(self) -> str | None:
        """Start it again when it is time; the sentence to say when it has just ended."""
        if self.runs:
            return None
        if self._process is None:
            if time.monotonic() >= self._start_again_s:
                self.start()
            return None
        code, self._process = self._process.returncode, None
        if time.monotonic() - self._started_s > STEADY_S:
            self.failures = 0
        wait_s = min(LONGEST_WAIT_S, FIRST_WAIT_S * 2**self.failures)
        self.failures += 1
        self._start_again_s = time.monotonic() + wait_s
        return (
            f"{self.service.subject} ended ({ending(code)}) and is started again in {wait_s:.0f} s. {self.last_words()}"
        )

    def last_words(self) -> str:
        with self.log_path.open("rb") as log:
            log.seek(max(0, self.log_path.stat().st_size - LAST_WORDS_BYTES))
            lines = [line for line in log.read().decode(errors="replace").splitlines() if line.strip()]
        said = f"Its last words: “{lines[-1].strip()[:LAST_WORDS_CHARACTERS]}”" if lines else "It said nothing"
        return f"{said} ({self.log_path})."

    def ask_to_stop(self) -> None:
        if self.runs and self._process:
            self._process.send_signal(self.service.stop_signal)

    def kill(self) -> None:
        """The whole session: what it started and did not take along goes too."""
        if self._process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()


def ending(code: int) -> str:
    return signal.Signals(-code).name if code < 0 else f"code {code}"


def rotate_log(path: Path) -> None:
    """The log of the start before is kept, and no more."""
    if path.exists():
        path.replace(path.with_suffix(".log.1"))
