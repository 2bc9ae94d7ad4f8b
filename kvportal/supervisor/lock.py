"""One portal a data folder."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from jobs.sizing.refusal import Refusal


@contextmanager
def held(data_dir: Path, address: str) -> Iterator[None]:
    """Hold the folder while the portal runs; the kernel lets go of it however the process ends."""
    with (data_dir / "portal.lock").open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            raise Refusal(
                "already_running",
                f"A portal already runs over {data_dir} ({_holder(file.read())}).",
                "Stop that one, or use another folder and port: DATA=folder PORT=8001 make run.",
            ) from None
        file.truncate(0)
        file.write(f"{os.getpid()} {address}")
        file.flush()
        yield


def _holder(text: str) -> str:
    pid, _, address = text.partition(" ")
    return f"process {pid}, {address}" if address else "it is just starting"
