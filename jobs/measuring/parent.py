"""A measuring process never outlives the one that started it: an orphan would hold the device for good."""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def die_with_parent(parent_pid: int | None) -> None:
    """Ask the kernel for SIGKILL when the parent dies; end at once where it died before the asking.

    The signal comes when the *thread* that started this process ends, so that thread must live as long.
    """
    if sys.platform != "linux":
        return
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if parent_pid is not None and os.getppid() != parent_pid:
        os._exit(1)
