"""Models are asked for, and refused with a reason."""

from functools import partial

from django.conf import settings
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils import timezone

from jobs.models import EntryState, ModelEntry, PromptCount
from jobs.models.heartbeat import WAKE_AGAIN_AFTER_S, silent_since
from jobs.running.kept_records import files_of
from jobs.running.model_source import resolve_model
from jobs.selectors.model_entry import record_of
from jobs.services.presentable import presentable
from jobs.services.wake import model_inspect_send
from jobs.sizing.model_spec import ModelKind, ModelSpec
from jobs.sizing.refusal import Refusal

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
    changed = not made and (entry.spec != spec.as_json() or model_entry_is_outdated(entry=entry))
    lost = entry.state == EntryState.WAITING and was_forgotten(entry)
    if changed:
        entry.prompt_counts.all().delete()  # the tokenizer may have changed too
    if made or changed or lost or entry.state == EntryState.REFUSED:
        entry.spec = spec.as_json()
        entry.attempts = 0
        entry.error = None
        entry.state = EntryState.WAITING
        entry.woken_at = timezone.now()
        entry.save()
        transaction.on_commit(partial(model_inspect_send, entry_id=entry.pk))
    return entry


def model_entry_is_outdated(*, entry: ModelEntry) -> bool:
    """Whether the files of a model that is ready are no longer those that its record came from."""
    if entry.state != EntryState.READY or entry.kind != ModelKind.FOLDER:
        return False
    record, now = record_of(entry), files_of(ModelSpec.from_json(entry.spec))
    before = record.versions.get("files") if record else None
    return bool(before and now and before != now["files"])


def was_forgotten(entry: ModelEntry | PromptCount, *, after_s: float = WAKE_AGAIN_AFTER_S) -> bool:
    """Whether its last wake-up must have been lost."""
    return entry.woken_at is None or entry.woken_at < silent_since(timezone.now(), after_s)


def model_entry_give_up(*, entry: ModelEntry) -> None:
    message = f"The inspection of {entry} was begun {entry.attempts} times and never ended."
    hint = "See the inspecting worker's log; the model may need more CPU RAM than there is."
    model_entry_refuse(entry=entry, error=Refusal("inspection_lost", message, hint).as_json())


def model_entry_refuse(*, entry: ModelEntry, error: dict[str, str]) -> None:
    ModelEntry.objects.filter(pk=entry.pk, state=EntryState.WAITING).update(
        state=EntryState.REFUSED, error=presentable(error, words=True)
    )
