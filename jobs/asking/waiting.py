"""A request that waits a bounded time for what a worker is asked, so that most people never see the wait."""

import time
from collections.abc import Callable, Iterable
from functools import partial
from typing import TypeVar

from django.contrib.auth.models import User

from jobs.models import EntryState, ModelEntry, PromptCount
from jobs.services.model_entry import model_entry_request
from jobs.sizing.refusal import Refusal

PATIENCE_S = 20.0
POLL_S = 0.2
Asked = TypeVar("Asked", ModelEntry, PromptCount)
Read = ModelEntry | Refusal


def settled(asked: Asked, deadline_s: float | None = None) -> Asked:
    """The same row, as soon as it no longer waits, or as it stands after PATIENCE_S, or at that moment."""
    deadline = time.monotonic() + PATIENCE_S if deadline_s is None else deadline_s
    while asked.state == EntryState.WAITING and time.monotonic() < deadline:
        time.sleep(POLL_S)
        asked.refresh_from_db()
    return asked


def entry_read(*, text: str, revision: str | None, user: User) -> ModelEntry:
    """The model of that name, read. Raises Refusal: why it was refused, or "still_reading" where that goes on."""
    return _read(settled(model_entry_request(text=text, revision=revision, user=user)))


def entries_read(*, named: Iterable[tuple[str, str | None]], user: User) -> dict[tuple[str, str | None], Read]:
    """By text and revision: the model, or why there is none, as entry_read says it. All are asked for before any is
    waited for, and they are waited for together."""
    deadline_s = time.monotonic() + PATIENCE_S
    asked = {name: _caught(partial(model_entry_request, text=name[0], revision=name[1], user=user)) for name in named}
    return {
        name: one if isinstance(one, Refusal) else _caught(partial(_settled_read, one, deadline_s))
        for name, one in asked.items()
    }


def _caught(read: Callable[[], ModelEntry]) -> Read:
    try:
        return read()
    except Refusal as refusal:
        return refusal


def _settled_read(entry: ModelEntry, deadline_s: float) -> ModelEntry:
    return _read(settled(entry, deadline_s))


def _read(entry: ModelEntry) -> ModelEntry:
    if entry.state == EntryState.REFUSED:
        raise Refusal.from_json(entry.error or {"code": "refused", "message": f"{entry} was refused."})
    if entry.state == EntryState.WAITING:
        raise Refusal("still_reading", f"{entry} is still being read.", "Send this again in a moment.")
    return entry
