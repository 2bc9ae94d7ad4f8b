"""quanto's kernels are C++, compiled at the first use after an installation; a compilation may be killed midway."""

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from time import sleep, time

import torch

from jobs.measuring.library_errors import LIBRARY_ERRORS

# Longer than a compilation takes on a slow machine (93 s): a lock as old as this is nobody's.
COMPILING_S = 180.0
POLL_S = 0.5


@cache
def why_not_quanto() -> str | None:
    """Run quanto's own kernel once, which compiles it where need be; None where it can be used, else the reason."""
    found = find_spec("optimum.quanto") if find_spec("optimum") else None
    if found is None or found.origin is None:
        return "quanto is not installed: pip install optimum-quanto"
    folder = Path(found.origin).parent / "library" / "extensions" / "cpp" / "build"
    try:
        with one_at_a_time():
            forget_killed_compilation(folder / "lock")
            import optimum.quanto  # noqa: F401

            torch.ops.quanto.unpack(torch.arange(16, dtype=torch.uint8), 4)
    except LIBRARY_ERRORS as error:
        return (
            f"quanto could not compile its kernels ({type(error).__name__}): "
            "install g++, ninja and Python's headers (Debian: g++ ninja-build python3-dev)"
        )
    return None


@contextmanager
def one_at_a_time() -> Iterator[None]:
    """A lock that the kernel takes back when its holder dies, unlike the file that torch leaves behind."""
    with (Path(tempfile.gettempdir()) / f"kvportal-quanto-{os.getuid()}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def forget_killed_compilation(lock: Path, *, compiling_s: float = COMPILING_S) -> None:
    """Remove the lock of a compilation that was killed: torch would wait for it for ever."""
    while lock.exists() and _age_s(lock) < compiling_s:
        sleep(POLL_S)
    lock.unlink(missing_ok=True)


def _age_s(file: Path) -> float:
    try:
        return time() - file.stat().st_mtime
    except FileNotFoundError:
        return float("inf")
