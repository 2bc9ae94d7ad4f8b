"""Runs a command that dies with the process that started it: `with_parent.py PARENT_PID COMMAND ...`.

Linux sends this process, and what it becomes by exec, SIGKILL when its parent ends in whatever way.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def die_with(parent_pid: int, death_signal: int = signal.SIGKILL) -> None:
    """A parent that ended before the request took hold would never be noticed, so the parent is compared after it."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, death_signal, 0, 0, 0)
    if os.getppid() != parent_pid:
        sys.exit(1)


if __name__ == "__main__":
    die_with(int(sys.argv[1]))
    os.execvp(sys.argv[2], sys.argv[2:])  # noqa: S606  (to become the command is the point)
