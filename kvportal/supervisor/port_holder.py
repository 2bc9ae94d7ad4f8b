"""Who listens on a port, as far as this user may see (Linux)."""

from pathlib import Path

LISTENING = "0A"


def holder_of(port: int) -> str:
    """` by python3, process 1234`, or nothing where it cannot be told."""
    inodes = _listening_inodes(port)
    for process in Path("/proc").glob("[0-9]*"):
        if _holds(process, inodes):
            return f" by {_name(process)}, process {process.name}"
    return ""


def _listening_inodes(port: int) -> set[str]:
    found = set()
    for table in (Path("/proc/net/tcp"), Path("/proc/net/tcp6")):
        if not table.exists():
            continue
        for line in table.read_text().splitlines()[1:]:
            columns = line.split()
            if columns[3] == LISTENING and int(columns[1].rpartition(":")[2], 16) == port:
                found.add(f"socket:[{columns[9]}]")
    return found


def _holds(process: Path, inodes: set[str]) -> bool:
    try:
        return any(_target(entry) in inodes for entry in (process / "fd").iterdir())
    except OSError:
        return False  # another user's process, or one that has just ended


def _target(entry: Path) -> str:
    try:
        return str(entry.readlink())
    except OSError:
        return ""


def _name(process: Path) -> str:
    try:
        return (process / "comm").read_text().strip()
    except OSError:
        return "a process"
