"""A file while it is downloaded: it goes on where it ended, has one writer at a time, and tells how far it is."""

import fcntl
from collections.abc import Callable
from dataclasses import dataclass, field
from io import FileIO
from pathlib import Path
from threading import Lock
from time import monotonic, sleep
from typing import Any

from jobs.sizing.units import bytes_text

PART_SUFFIX = ".kv-portal.part"
TELL_EACH_PART, TELL_LEAST_S, TELL_MOST_S = 0.02, 2.0, 60.0
WAIT_S = 0.5
Tell = Callable[[str], None]


@dataclass(kw_only=True)
class Progress:
    """Of all files together. held_bytes: here already, from earlier attempts too; fetched_bytes: come since."""

    tell: Tell
    whole_bytes: int
    began_s: float
    held_bytes: int = 0
    fetched_bytes: int = 0
    _told_s: float = 0.0
    _told_bytes: int = 0
    _lock: Lock = field(default_factory=Lock, repr=False)

    def hold(self, count: int) -> None:
        with self._lock:
            self.held_bytes += count

    def add(self, count: int) -> None:
        with self._lock:
            self.fetched_bytes += count
            since_s = monotonic() - self._told_s
            moved = self.fetched_bytes - self._told_bytes >= TELL_EACH_PART * self.whole_bytes
            if since_s >= TELL_MOST_S or (moved and since_s >= TELL_LEAST_S):
                self._say()

    def wait(self) -> None:
        with self._lock:
            if monotonic() - self._told_s >= TELL_MOST_S:
                self._told_s = monotonic()
                self.tell("Another worker is downloading this model; waiting for it.")

    def _say(self) -> None:
        self._told_s, self._told_bytes = monotonic(), self.fetched_bytes
        rate = self.fetched_bytes / max(1e-3, monotonic() - self.began_s)
        done = bytes_text(self.held_bytes + self.fetched_bytes)
        self.tell(f"Downloading: {done} of {bytes_text(self.whole_bytes)}, {bytes_text(int(rate))}/s.")


class CountedFile(FileIO):
    """Appended to; what is written to it is counted."""

    def __init__(self, path: Path, progress: Progress) -> None:
        super().__init__(path, "ab")
        self._progress = progress

    def write(self, data: Any) -> int:
        left = memoryview(data)
        while left:
            left = left[super().write(left) :]
        self._progress.add(len(data))
        return len(data)

    def held_bytes(self, *, most: int) -> int:
        """What an earlier attempt left, counted as held; more than `most` is of another file and is dropped."""
        size = self.seek(0, 2)
        if size > most:
            size = self.truncate(0)
        self._progress.hold(size)
        return size


def alone(file: FileIO, progress: Progress) -> None:
    """Wait until nobody else writes it; the lock ends with the file's being open."""
    while True:
        try:
            return fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress.wait()
            sleep(WAIT_S)
