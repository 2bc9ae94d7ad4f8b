"""Runs are submitted, asked again, and cancelled."""

from collections.abc import Iterable
from functools import partial
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from jobs.models import EntryState, ModelEntry, Profile, Run, RunState, Worker, Workload
from jobs.procedure.events import EventKind
from jobs.procedure.question import Question
from jobs.services.deed import What, deed_record
from jobs.services.run_state import event_append, run_move
from jobs.services.tag import tags_read, tags_set
from jobs.services.wake import run_wake_send
from jobs.services.worker_attach import worker_attach
from jobs.sizing.refusal import Refusal

WAITING = Q(state=RunState.QUEUED)


@transaction.atomic
def run_submit(
    *,
    user: User | None,
    name: str,
    entry: ModelEntry,
    question: Question,
    worker: Worker,
    workload: Workload | None = None,
    cloned_from: Profile | None = None,
    tags: Iterable[str] = (),
    notes: str = "",
) -> Run:
    """Save the question as a profile and queue its first run; cloned_from: the profile that it was made like.

    Raises Refusal: wrong_device, bad_tags, and why the model was refused.
    """
    refuse_unmeasurable(entry, question, worker)
    profile = Profile.objects.create(
        name=(name.strip() or f"{entry} on {worker.device_name}")[:120],
        owner=user,
        model_entry=entry,
        workload=workload,
        worker=worker,
        question=question.as_json(),
        cloned_from=cloned_from,
        notes=notes,
    )
    tags_set(profile=profile, names=tags_read(",".join(tags)))
    return run_queue(profile=profile, worker=worker, user=user)


@transaction.atomic
def run_again(*, profile: Profile, user: User | None) -> Run:
    """The question as it is now once more, on the profile's worker."""
    held = profile_held(profile)
    return run_queue(profile=held, worker=worker_of(held), user=user)


def worker_of(profile: Profile) -> Worker:
    """Where its runs go: one of the same device from now on, where it had none. Raises Refusal: no_worker, archived."""
    refuse_archived(profile)
    return profile.worker or worker_attach(profile=profile)


def profile_held(profile: Profile) -> Profile:
    """As it stands now, and nobody else's to change until the transaction ends."""
    return Profile.objects.select_for_update(of=("self",)).select_related("worker").get(pk=profile.pk)


def refuse_archived(profile: Profile) -> None:
    """Raises Refusal: archived, of a profile as it stands in the database."""
    if Profile.objects.filter(pk=profile.pk, archived_at__isnull=False).exists():
        raise Refusal(
            "archived", f"“{profile.name}” is archived: nothing of it is run or adopted.", "Restore it first."
        )


def refuse_unmeasurable(entry: ModelEntry, question: Question, worker: Worker) -> None:
    """Raises Refusal: wrong_device, and why the model was refused."""
    if entry.state == EntryState.REFUSED:
        raise Refusal.from_json(entry.error or {"code": "refused", "message": f"{entry} was refused."})
    if question.device != worker.device:
        raise Refusal(
            "wrong_device", f"{worker} measures on {worker.device}, not on {question.device}.", "Choose another device."
        )


@transaction.atomic
def run_cancel(*, run: Run, user: User | None) -> Run:
    """A queued run ends here; a running one is asked to stop, and its worker does; an ended one stays as it is."""
    who = f" by {user.get_username()}" if user else ""
    changes: dict[str, Any] = {"cancelled_by": user}
    asked = f"Cancelling: asked{who}."
    if run_move(run_id=run.pk, to=RunState.CANCELLED, when=WAITING, message=f"Cancelled{who}.", **changes) or run_move(
        run_id=run.pk, to=RunState.CANCELLING, when=Q(), message=asked, **changes
    ):
        deed_record(user=user, what=What.CANCELLED, on=run.profile.name, run=run)
    run.refresh_from_db()
    return run


def run_queue(
    *, profile: Profile, worker: Worker, user: User | None, what: What = What.SUBMITTED, **purpose: Any
) -> Run:
    """A run that waits, in a transaction that sends its wake-up. purpose: of the run's columns purpose, behind and
    compared_with_id, those that are not as of a run that somebody asks for."""
    run = Run.objects.create(
        profile=profile,
        model_entry_id=profile.model_entry_id,
        submitted_by=user,
        worker=worker,
        question=profile.question,
        queue=worker.queue,
        woken_at=timezone.now(),
        **purpose,
    )
    data = {"state": str(RunState.QUEUED), "message": f"Waiting for {worker.device} of {worker.host}."}
    event_append(run_id=run.pk, when=WAITING, kind=EventKind.STATE, data=data)
    Profile.objects.filter(pk=profile.pk).update(latest_run=run)
    deed_record(user=user, what=what, on=profile.name, run=run)
    transaction.on_commit(partial(run_wake_send, run_id=run.pk, queue=run.queue))
    run.refresh_from_db()
    return run
