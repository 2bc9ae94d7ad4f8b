"""An answer is measured again: the old run is kept, and the new one says what it is to be compared with."""

from django.contrib.auth.models import User
from django.db import transaction

from jobs.models import ACTIVE_STATES, Profile, Purpose, Run, RunState, Worker
from jobs.services.deed import What, deed_record
from jobs.services.run import profile_held, run_queue, worker_of
from jobs.sizing.refusal import Refusal

BEHIND_PEOPLE = 1
RECHECKS = (Purpose.RECHECK, Purpose.NIGHT)


@transaction.atomic
def run_recheck(*, profile: Profile, user: User | None) -> Run:
    """The question as it is now, on the profile's worker, beside the answer in force. One that waits or runs already
    for that question is what is answered; what the schedule asked for then waits behind nobody any more.

    Raises Refusal: no_worker, nothing_to_recheck.
    """
    profile = profile_held(profile)
    worker = worker_of(profile)
    if profile.answer_run_id is None:
        raise Refusal(
            "nothing_to_recheck", "No run of this profile has an answer that could be rechecked.", "Run it instead."
        )
    going = _going(profile)
    if going is None:
        return _queue(profile, worker, user, Purpose.RECHECK)
    if going.state == RunState.QUEUED and going.behind:
        Run.objects.filter(pk=going.pk).update(behind=0, purpose=Purpose.RECHECK, submitted_by=user)
        deed_record(user=user, what=What.RECHECKED, on=profile.name, run=going)
        going.refresh_from_db()
    return going


def run_at_night(*, profile: Profile, worker: Worker) -> Run:
    """Asked for by the schedule: whatever people ask of the worker comes first."""
    return _queue(profile, worker, None, Purpose.NIGHT)


def _queue(profile: Profile, worker: Worker, user: User | None, purpose: Purpose) -> Run:
    return run_queue(
        profile=profile,
        worker=worker,
        user=user,
        what=What.RECHECKED,
        purpose=purpose,
        behind=BEHIND_PEOPLE if purpose is Purpose.NIGHT else 0,
        compared_with_id=profile.answer_run_id,
    )


def _going(profile: Profile) -> Run | None:
    found = Run.objects.filter(profile=profile, state__in=ACTIVE_STATES, purpose__in=RECHECKS)
    return next((run for run in found.defer("stages") if run.question == profile.question), None)
