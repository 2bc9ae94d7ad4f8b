"""Named workloads. A profile keeps the lengths that it was asked with, whatever becomes of its workload."""

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils import timezone

from jobs.models import PromptSet, Workload
from jobs.services.deed import What, deed_record
from jobs.sizing.refusal import Refusal

MOST_TOKENS = 2**31 - 1  # what the database's integers hold
MOST_NOTES_CHARACTERS = 4000


def workload_save(
    *,
    user: User | None,
    name: str,
    prompt_tokens: int,
    typical_prompt_tokens: int,
    answer_tokens: int,
    sequences: int,
    prompts: PromptSet | None = None,
) -> Workload:
    """Make it, or change one's own of that name; somebody else's may be used, not changed."""
    name = name.strip()
    lengths = {
        "prompt_tokens": prompt_tokens,
        "typical_prompt_tokens": typical_prompt_tokens,
        "answer_tokens": answer_tokens,
        "sequences": sequences,
    }
    _refuse_nonsense(name, lengths)
    fields = lengths | {"prompts_id": prompts.pk if prompts else None}
    try:
        with transaction.atomic():
            return _save(user, name, fields)
    except IntegrityError:  # another made the same name a moment before
        with transaction.atomic():
            return _save(user, name, fields)


@transaction.atomic
def workload_edit(
    *,
    workload: Workload,
    user: User | None,
    name: str,
    prompt_tokens: int,
    typical_prompt_tokens: int,
    answer_tokens: int,
    sequences: int,
    notes: str = "",
) -> Workload:
    """Its prompts stay. Raises Refusal: bad_name, bad_length, bad_notes, workload_taken."""
    name, notes = name.strip(), notes.replace("\r\n", "\n").strip()
    lengths = {
        "prompt_tokens": prompt_tokens,
        "typical_prompt_tokens": typical_prompt_tokens,
        "answer_tokens": answer_tokens,
        "sequences": sequences,
    }
    _refuse_nonsense(name, lengths)
    if len(notes) > MOST_NOTES_CHARACTERS:
        raise Refusal("bad_notes", f"The notes have more than {MOST_NOTES_CHARACTERS:,} characters.", "Shorten them.")
    if Workload.objects.filter(name=name).exclude(pk=workload.pk).exists():
        raise Refusal("workload_taken", f"There is a workload “{name}” already.", "Give it another name.")
    fields = lengths | {"name": name, "notes": notes}
    changed = [field for field, value in fields.items() if getattr(workload, field) != value]
    if changed:
        Workload.objects.filter(pk=workload.pk).update(**fields)
        workload.refresh_from_db()
        about = ", ".join(field.replace("_", " ") for field in changed)
        deed_record(user=user, what=What.EDITED, on=f"workload {name}", about=about)
    return workload


@transaction.atomic
def workload_archive(*, workload: Workload, user: User | None) -> bool:
    """Whether it was offered until now; its profiles stay as they are."""
    if not Workload.objects.filter(pk=workload.pk, archived_at=None).update(archived_at=timezone.now()):
        return False
    deed_record(user=user, what=What.ARCHIVED, on=f"workload {workload.name}")
    return True


@transaction.atomic
def workload_restore(*, workload: Workload, user: User | None) -> bool:
    """Whether it was archived."""
    if not Workload.objects.filter(pk=workload.pk, archived_at__isnull=False).update(archived_at=None):
        return False
    deed_record(user=user, what=What.RESTORED, on=f"workload {workload.name}")
    return True


def _save(user: User | None, name: str, fields: dict[str, int | None]) -> Workload:
    found = Workload.objects.select_for_update().filter(name=name).first()
    if found is None:
        return Workload.objects.create(name=name, owner=user, **fields)
    if all(getattr(found, field) == value for field, value in fields.items()):
        return found
    if user is None or found.owner_id != user.pk:
        raise Refusal(
            "workload_taken",
            f"There is a workload “{name}” with other lengths or prompts, and it is not yours.",
            "Save it under another name.",
        )
    for field, value in fields.items():
        setattr(found, field, value)
    found.save(update_fields=[*fields])
    return found


def _refuse_nonsense(name: str, lengths: dict[str, int]) -> None:
    if not name or len(name) > 80:
        raise Refusal("bad_name", "A workload needs a name of 1 to 80 characters.", "Give it a shorter one.")
    for field, value in lengths.items():
        if not 1 <= value <= MOST_TOKENS:
            what = field.replace("_", " ")
            raise Refusal("bad_length", f"The workload's {what} cannot be {value}.", "Use a whole number above zero.")
    if lengths["typical_prompt_tokens"] > lengths["prompt_tokens"]:
        raise Refusal(
            "bad_length",
            "The typical prompt cannot be longer than the longest prompt.",
            "Lower the typical prompt or raise the longest.",
        )
