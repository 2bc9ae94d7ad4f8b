"""Models are asked for, inspected, and refused with a reason."""

import logging
from functools import partial
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone

from jobs.models import EntryState, ModelEntry
from jobs.models.heartbeat import WAKE_AGAIN_AFTER_S, silent_since
from jobs.running.inspection import inspect_model
from jobs.running.model_source import resolve_model
from jobs.services.inspection import Inspect, record_keep
from jobs.services.measuring import measuring_process
from jobs.services.presentable import presentable
from jobs.services.wake import model_inspect_send
from jobs.sizing.model_spec import ModelSpec
from jobs.sizing.refusal import Refusal

logger = logging.getLogger(__name__)
MOST_INSPECTIONS = 3  # begun and never ended: then the inspecting kills its worker


def model_entry_request(*, text: str, revision: str | None = None, user: User | None = None) -> ModelEntry:
    """The entry of a model by its text, waiting for inspection unless that is done; a refused one is tried again.

    Raises Refusal for what can be seen to be no model without inspecting it.
    """
    spec = resolve_model(text, revision=revision, models_dir=settings.MODELS_DIR, any_folder=False)
    try:
        return _request(spec, user)
    except IntegrityError:  # another asked for the same a moment before
        return _request(spec, user)


@transaction.atomic
def _request(spec: ModelSpec, user: User | None) -> ModelEntry:
    entry, made = ModelEntry.objects.select_for_update().get_or_create(
        kind=str(spec.kind),
        name=spec.name,
        revision=spec.revision or "",
        defaults={"spec": spec.as_json(), "requested_by": user},
    )
    changed = not made and entry.spec != spec.as_json()
    if made or changed or entry.state == EntryState.REFUSED or _is_forgotten(entry):
        entry.spec = spec.as_json()
        entry.attempts = 0
        entry.error = None
        entry.state = EntryState.WAITING
        entry.woken_at = timezone.now()
        entry.save()
        transaction.on_commit(partial(model_inspect_send, entry_id=entry.pk))
    return entry


def _is_forgotten(entry: ModelEntry) -> bool:
    unanswered = silent_since(timezone.now(), WAKE_AGAIN_AFTER_S)
    return entry.state == EntryState.WAITING and (entry.woken_at is None or entry.woken_at < unanswered)


def model_entry_inspect(entry_id: int, *, inspect: Inspect = inspect_model) -> None:
    """Inspect a waiting model and keep the record, or the reason why there is none."""
    waiting = ModelEntry.objects.filter(pk=entry_id, state=EntryState.WAITING)
    if not waiting.update(attempts=F("attempts") + 1):
        return
    entry = ModelEntry.objects.get(pk=entry_id)
    try:
        with measuring_process() as process:
            record = inspect(ModelSpec.from_json(entry.spec), process=process)
        record_keep(entry=entry, record=record)
    except Refusal as refusal:
        _refuse(entry, refusal.as_json())
    except Exception:
        logger.exception("the inspection of %s failed", entry)
        _refuse(entry, _internal(entry))


def model_entry_give_up(*, entry: ModelEntry) -> None:
    message = f"The inspection of {entry} was begun {entry.attempts} times and never ended."
    hint = "See the inspecting worker's log; the model may need more CPU RAM than there is."
    _refuse(entry, Refusal("inspection_lost", message, hint).as_json())


def _refuse(entry: ModelEntry, error: dict[str, str]) -> None:
    ModelEntry.objects.filter(pk=entry.pk, state=EntryState.WAITING).update(
        state=EntryState.REFUSED, error=presentable(error, words=True)
    )


def _internal(entry: ModelEntry) -> dict[str, Any]:
    message = f"The inspection of {entry} stopped for a reason that was not foreseen."
    return Refusal("internal", message, "The inspecting worker's log has the details; then ask again.").as_json()
