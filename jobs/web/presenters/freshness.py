"""Whether a profile's answer still holds, and what differs where it does not."""

from dataclasses import dataclass
from datetime import datetime

from jobs.models import ACTIVE_STATES, Freshness, Profile, Run
from jobs.procedure.difference import Difference
from jobs.services.recheck import RECHECKS

TONES = {Freshness.FRESH: "good", Freshness.DOUBT: "warn", Freshness.STALE: "bad"}
SENTENCES = {
    Freshness.FRESH: "Nothing that this answer rests on is known to have changed.",
    Freshness.DOUBT: "This answer probably still holds, but what it was measured with has changed:",
    Freshness.STALE: "Recheck this answer before you rely on it. What it was measured with, or for, has changed:",
}

NOT_COMPARED = (
    "Its question and model are as they were. What is installed on its device now is not known: no worker of it is "
    "connected to this profile yet. A recheck takes one."
)


@dataclass(frozen=True, kw_only=True)
class FreshnessMark:
    """state is a word for classes ("fresh", "doubt", "stale"), word the one that is read.

    differences: a sentence each. since: when the first was seen. rechecked_by: the run that rechecks it at the moment.
    can_recheck: whether it may be asked for; a profile without a worker takes one of the same device then.
    """

    state: str
    word: str
    tone: str
    sentence: str
    differences: tuple[str, ...]
    since: datetime | None
    profile_pk: int
    run_pk: int
    can_recheck: bool
    rechecked_by: int | None = None


def freshness_mark(profile: Profile, *, rechecked_by: int | None = None) -> FreshnessMark | None:
    """Without a query; None where there is no answer."""
    state = Freshness(profile.freshness)
    if state == Freshness.NONE or profile.answer_run_id is None:
        return None
    return FreshnessMark(
        state=str(state.value),
        word=str(state.label),
        tone=TONES[state],
        sentence=NOT_COMPARED if state == Freshness.FRESH and profile.worker_id is None else SENTENCES[state],
        differences=tuple(Difference.from_json(one).sentence for one in profile.differences),
        since=profile.differs_since,
        profile_pk=profile.pk,
        run_pk=profile.answer_run_id,
        can_recheck=profile.archived_at is None,
        rechecked_by=rechecked_by,
    )


def mark_of(profile: Profile) -> FreshnessMark | None:
    """With the recheck that waits or runs, if any: one query."""
    going = Run.objects.filter(profile=profile, state__in=ACTIVE_STATES, purpose__in=RECHECKS).order_by("-pk")
    return freshness_mark(profile, rechecked_by=going.values_list("pk", flat=True).first())
