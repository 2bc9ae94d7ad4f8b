"""The measuring process, seen from outside: started, asked, bounded, cancelled and buried.

The kernel kills it when the thread that started it ends, so start it in a thread that lives as long as the work.
"""

import json
import os
import re
import selectors
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep
from types import TracebackType
from typing import IO, Any, cast

from jobs.procedure.measurement import Cancelled
from jobs.running.environment import measuring_environment
from jobs.running.secrets import Secrets
from jobs.sizing.refusal import Refusal

ROOT = Path(__file__).parents[2]
MODULE = "jobs.measuring"
POLL_S = 0.2
HELLO_PATIENCE_S = 180.0
LAST_WORDS_LINES = 40
READ_BYTES = 65536
LINE_ENDS = re.compile(rb"[\r\n]")
BURIAL_S = 10.0
BURIAL_POLL_S = 0.01


class ProcessDied(Exception):
    """It ended without an answer. `signal_number` is what killed it, or None; `exit_code` its own, or None."""

    def __init__(self, *, returncode: int, last_words: str) -> None:
        self.signal_number = -returncode if returncode < 0 else None
        self.exit_code = returncode if returncode >= 0 else None
        self.last_words = last_words
        said = last_words.strip().rpartition("\n")[2][:300] if self.exit_code else ""
        super().__init__(f"The measuring process ended ({self.how}){': ' + said if said else '.'}")

    @property
    def how(self) -> str:
        """`signal SIGSEGV` or `exit code 1`."""
        if self.signal_number is None:
            return f"exit code {self.exit_code}"
        return f"signal {signal.Signals(self.signal_number).name}"


class ProcessHung(Exception):
    """It said nothing for longer than the caller's patience, and was killed."""

    def __init__(self, patience_s: float) -> None:
        super().__init__(f"The measuring process said nothing for {patience_s:.0f} s and was ended.")


class OutOfTime(Exception):
    """The caller's deadline came before the answer; the process was killed."""


class MeasuringProcess:
    """A context manager: the process lives within it, in a session of its own, and never longer."""

    def __init__(
        self,
        *,
        environment: Mapping[str, str] | None = None,
        python: str = sys.executable,
        module: str = MODULE,
        cards: Mapping[str, str] | None = None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> None:
        given = os.environ if environment is None else environment
        self._environment = measuring_environment(given, python=python, cards=cards or {})
        self._command = [python, "-m", module, "--parent", str(os.getpid())]
        self._cancelled_at_start = cancelled
        self._requests = 0
        self._buried = False
        self._unread = b""
        self._secrets = Secrets(self._environment)
        self._unended_words = b""
        self._last_words: deque[str] = deque(maxlen=LAST_WORDS_LINES)
        self.hello: dict[str, Any] = {}

    def __enter__(self) -> "MeasuringProcess":
        self._process = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self._environment,
            cwd=ROOT,
            start_new_session=True,
            bufsize=0,
        )
        self._selector = selectors.DefaultSelector()
        for stream in (self._stdout, self._stderr):
            os.set_blocking(stream.fileno(), False)
            self._selector.register(stream, selectors.EVENT_READ)
        try:
            self.hello = self._next_line(HELLO_PATIENCE_S, self._cancelled_at_start)
        except BaseException:
            self.kill()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        return not self._buried and not self._has_ended()

    @property
    def last_words(self) -> str:
        """The end of its standard error, without secrets."""
        unended = self._unended_words.decode(errors="replace")
        return self._secrets.hidden_in("\n".join([*self._last_words, unended] if unended else self._last_words))

    def request(
        self,
        do: str,
        *,
        patience_s: float,
        cancelled: Callable[[], bool] = lambda: False,
        tell: Callable[[str], None] = lambda text: None,
        deadline: float | None = None,
        **fields: Any,
    ) -> dict[str, Any]:
        """The `data` of the answer.

        patience_s: seconds without any line after which it counts as hung; deadline: a monotonic time to end by.
        Raises Refusal (its own `error`), ProcessDied, ProcessHung, OutOfTime or Cancelled; after the last four, and
        after an answer that says `restart`, it is gone.
        """
        self._requests += 1
        self._send({"id": self._requests, "do": do, **fields})
        while True:
            line = self._next_line(patience_s, cancelled, deadline)
            if line.get("id") != self._requests:
                continue
            if line["event"] == "progress":
                tell(line["message"])
                continue
            if line.get("restart"):
                self.kill()
            if line["event"] == "error":
                raise Refusal.from_json(line["error"])
            return dict(line["data"])

    def kill(self) -> None:
        """End the whole process group at once, and wait until it is gone."""
        if self._buried:
            return
        self._buried = True
        # The group is killed before its leader is waited for: until then its number is nobody else's.
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait(timeout=BURIAL_S)
        self._selector.close()
        for stream in (self._stdin, self._stdout, self._stderr):
            stream.close()

    def _send(self, request: Mapping[str, Any]) -> None:
        if self._buried:
            raise self._death()
        try:
            left = memoryview(json.dumps(request).encode() + b"\n")
            while left:  # an unbuffered pipe may take less of a long line than it is given
                left = left[self._stdin.write(left) :]
        except BrokenPipeError:
            raise self._death() from None

    def _next_line(
        self, patience_s: float, cancelled: Callable[[], bool], deadline: float | None = None
    ) -> dict[str, Any]:
        heard_at = monotonic()
        polled_at = 0.0
        while b"\n" not in self._unread:
            now = monotonic()
            if now - polled_at >= POLL_S:
                polled_at = now
                if cancelled():
                    self.kill()
                    raise Cancelled
            if deadline is not None and now > deadline:
                self.kill()
                raise OutOfTime
            if now - heard_at > patience_s:
                self.kill()
                raise ProcessHung(patience_s)
            if not self._read(POLL_S):
                raise self._death()
        line, _, self._unread = self._unread.partition(b"\n")
        return dict(self._secrets.hidden_from(json.loads(line)))

    def _read(self, wait_s: float) -> bool:
        """Take what has come, within `wait_s`; False at the end of its answers."""
        for key, _ in self._selector.select(wait_s):
            stream = key.fileobj
            data = os.read(key.fd, READ_BYTES)
            if stream is self._stdout:
                if not data:
                    return False
                self._unread += data
            elif data:
                self._hear(data)
            else:
                self._selector.unregister(stream)
        return True

    def _death(self) -> ProcessDied:
        """Wait for the end that its closed pipe announces, and keep what it said last."""
        waited_until = monotonic() + BURIAL_S
        while not self._buried and not self._has_ended() and monotonic() < waited_until:
            sleep(BURIAL_POLL_S)
        if not self._buried:
            self._hear_last_words()
            self.kill()
        return ProcessDied(returncode=self._process.returncode, last_words=self.last_words)

    def _has_ended(self) -> bool:
        """Whether it is over, asked without collecting it: its number stays its own until `kill`."""
        return os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def _hear_last_words(self) -> None:
        with suppress(BlockingIOError):
            while data := os.read(self._stderr.fileno(), READ_BYTES):
                self._hear(data)

    def _hear(self, data: bytes) -> None:
        """Whole lines: a secret may be cut in two by what is read at once."""
        *lines, self._unended_words = LINE_ENDS.split(self._unended_words[-READ_BYTES:] + data)
        self._last_words.extend(line.decode(errors="replace") for line in lines if line)

    @property
    def _stdin(self) -> IO[bytes]:
        return cast("IO[bytes]", self._process.stdin)

    @property
    def _stdout(self) -> IO[bytes]:
        return cast("IO[bytes]", self._process.stdout)

    @property
    def _stderr(self) -> IO[bytes]:
        return cast("IO[bytes]", self._process.stderr)
