"""Whose question a profile is."""

from jobs.models import Profile, Run
from jobs.services.deed import PROGRAM


def asked_by(profile: Profile) -> str:
    """“asked by ada”, “kept by the command line”; a query where it has no owner."""
    if profile.owner:
        return f"asked by {profile.owner.get_username()}"
    if any(was_kept(run) for run in profile.runs.only("queue").order_by("pk")[:1]):
        return f"kept by {PROGRAM}"
    return "asked by someone who left"


def was_kept(run: Run) -> bool:
    """Whether a command answered it and kept it: it never waited for a worker."""
    return not run.queue


def submitter(run: Run) -> str:
    """Empty for the schedule, and for whoever left."""
    return PROGRAM if was_kept(run) else str(run.submitted_by or "")
