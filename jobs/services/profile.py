"""Profiles are edited, asked anew, put away and brought back."""

from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from jobs.models import ModelEntry, Profile, Run, Worker, Workload
from jobs.procedure.question import Question
from jobs.procedure.question_differences import question_differences
from jobs.services.adoption import adoption_withdraw
from jobs.services.deed import What, deed_record
from jobs.services.freshness import profile_freshen
from jobs.services.run import profile_held, refuse_archived, refuse_unmeasurable, run_queue
from jobs.services.tag import tags_read, tags_set
from jobs.sizing.refusal import Refusal

MOST_NAME_CHARACTERS = 120
MOST_NOTES_CHARACTERS = 4000


@transaction.atomic
def profile_edit(*, profile: Profile, user: User | None, name: str, tags: str, notes: str, at_night: bool) -> Profile:
    """tags: a list with commas. Raises Refusal: bad_name, bad_notes, bad_tags."""
    profile = profile_held(profile)
    fields = {"name": _name(name), "notes": _notes(notes), "at_night": at_night}
    wanted = tags_read(tags)
    words = {"at_night": "recheck at night"}
    changed = [words.get(field, field) for field, value in fields.items() if getattr(profile, field) != value]
    if sorted(profile.tags.values_list("name", flat=True)) != wanted:
        changed.append("tags")
        tags_set(profile=profile, names=wanted)
    if not changed:
        return profile
    before = profile.name
    _change(profile, **fields)
    about = ", ".join(changed) + (f"; it was “{before}”" if before != profile.name else "")
    deed_record(user=user, what=What.EDITED, on=profile.name, about=about, profile=profile)
    return profile


@transaction.atomic
def profile_ask_anew(
    *,
    profile: Profile,
    user: User | None,
    entry: ModelEntry,
    question: Question,
    worker: Worker,
    workload: Workload | None = None,
) -> Run:
    """Change the question that a profile asks, and queue a run of it; earlier runs keep the one that they answered.

    Raises Refusal: archived, wrong_device, same_question, and why the model was refused.
    """
    profile = profile_held(profile)
    refuse_archived(profile)
    refuse_unmeasurable(entry, question, worker)
    asked = question.as_json()
    if (profile.question, profile.model_entry_id, profile.worker_id) == (asked, entry.pk, worker.pk):
        raise Refusal("same_question", "The question is the same as before.", "Change something, or run it again.")
    about = _what_changed(profile, asked, entry, worker)
    if profile.adoption and profile.model_entry.name != entry.name:  # it was a limit of another model
        adoption_withdraw(adoption=profile.adoption, user=user)
        profile.adoption = None
    _change(profile, question=asked, model_entry=entry, worker=worker, workload=workload)
    deed_record(user=user, what=What.EDITED, on=profile.name, about=about, profile=profile)
    run = run_queue(profile=profile, worker=worker, user=user)
    profile_freshen(profile=profile)
    return run


@transaction.atomic
def profile_archive(*, profile: Profile, user: User | None) -> bool:
    """Whether it was not archived yet. It and its runs are kept, what runs goes on, and nothing new is run."""
    if not Profile.objects.filter(pk=profile.pk, archived_at=None).update(archived_at=timezone.now()):
        return False
    deed_record(user=user, what=What.ARCHIVED, on=profile.name, profile=profile)
    return True


@transaction.atomic
def profile_restore(*, profile: Profile, user: User | None) -> bool:
    """Whether it was archived."""
    if not Profile.objects.filter(pk=profile.pk, archived_at__isnull=False).update(archived_at=None):
        return False
    deed_record(user=user, what=What.RESTORED, on=profile.name, profile=profile)
    return True


def _change(profile: Profile, **fields: Any) -> None:
    for field, value in fields.items():
        setattr(profile, field, value)
    profile.save(update_fields=[*fields])


def _name(text: str) -> str:
    name = " ".join(text.split())
    if not 0 < len(name) <= MOST_NAME_CHARACTERS:
        most = MOST_NAME_CHARACTERS
        raise Refusal("bad_name", f"A profile needs a name of 1 to {most} characters.", "Give it a shorter one.")
    return name


def _notes(text: str) -> str:
    notes = text.replace("\r\n", "\n").strip()
    if len(notes) > MOST_NOTES_CHARACTERS:
        most = f"{MOST_NOTES_CHARACTERS:,}"
        raise Refusal("bad_notes", f"The notes have more than {most} characters.", "Shorten them.")
    return notes


def _what_changed(profile: Profile, asked: dict[str, Any], entry: ModelEntry, worker: Worker) -> str:
    """“the question: longest prompt 4,096 tokens → 2,048 tokens”."""
    told = [difference.sentence for difference in question_differences(profile.question, asked)]
    if profile.worker_id != worker.pk:
        told.append(f"device {_place(profile.worker) if profile.worker else 'none'} → {_place(worker)}")
    if profile.model_entry_id != entry.pk and not any(one.startswith("model ") for one in told):
        told.append(f"model revision → {entry.revision or 'main'}")
    return f"the question: {', '.join(told)}" if told else "the question"


def _place(worker: Worker) -> str:
    return f"{worker.device_name} ({worker})"
