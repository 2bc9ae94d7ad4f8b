"""A request that waits a bounded time for what a worker is asked, so that most people never see the wait."""

import time
from typing import TypeVar

from jobs.models import EntryState, ModelEntry, PromptCount

PATIENCE_S = 20.0
POLL_S = 0.2
Asked = TypeVar("Asked", ModelEntry, PromptCount)


def settled(asked: Asked) -> Asked:
    """The same row, as soon as it no longer waits, or as it stands after PATIENCE_S."""
    deadline = time.monotonic() + PATIENCE_S
    while asked.state == EntryState.WAITING and time.monotonic() < deadline:
        time.sleep(POLL_S)
        asked.refresh_from_db()
    return asked
