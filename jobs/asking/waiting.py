"""A request that waits a bounded time for what a worker is asked, so that most people never see the wait."""

import time
from typing import TypeVar

from django.contrib.auth.models import User

from jobs.models import EntryState, ModelEntry, PromptCount
from jobs.services.model_entry import model_entry_request
from jobs.sizing.refusal import Refusal

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


def entry_read(*, text: str, revision: str | None, user: User) -> ModelEntry:
    """The model of that name, read. Raises Refusal: why it was refused, or "still_reading" where that goes on."""
    entry = settled(model_entry_request(text=text, revision=revision, user=user))
    if entry.state == EntryState.REFUSED:
        raise Refusal.from_json(entry.error or {"code": "refused", "message": f"{entry} was refused."})
    if entry.state == EntryState.WAITING:
        raise Refusal("still_reading", "The model’s config is still being read.", "Send this again in a moment.")
    return entry
