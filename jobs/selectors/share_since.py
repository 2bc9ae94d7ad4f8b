"""What has become of a shared answer since: a later measurement, another decision, another question."""

from dataclasses import dataclass
from datetime import datetime

from jobs.models import Adoption, Profile, Run, Share
from jobs.procedure.limit_change import Found, limit_changed


@dataclass(frozen=True, kw_only=True)
class Limit:
    """context: None where nothing fits."""

    context: int | None
    strategy: str


@dataclass(frozen=True, kw_only=True)
class Since:
    """superseded: a later measurement says `now`, beyond noise, at `measured_at`; not superseded, it confirmed.

    asked_otherwise: the profile's question was changed. decided_at: when the team adopted `adopted` in place of what
    the snapshot has, None where that stands; adopted None with a moment: withdrawn.
    """

    measured_at: datetime | None = None
    superseded: bool = False
    of_another_question: bool = False
    now: Limit | None = None
    asked_otherwise: bool = False
    decided_at: datetime | None = None
    adopted: Limit | None = None


def share_since(share: Share) -> Since:
    run, profile = share.run, share.run.profile
    later = _later(run, profile.answer_run)
    decided_at, adopted = _decided(share, profile)
    return Since(
        measured_at=(later.finished_at or later.queued_at) if later else None,
        superseded=later is not None and says_otherwise(run, later),
        of_another_question=later is not None and later.question != run.question,
        now=Limit(context=later.limit_context, strategy=later.limit_strategy) if later else None,
        asked_otherwise=profile.question != (later or run).question,
        decided_at=decided_at,
        adopted=adopted,
    )


def says_otherwise(before: Run, after: Run) -> bool:
    return limit_changed(_found(before), _found(after))


def _found(run: Run) -> Found:
    return Found(context=run.limit_context, strategy=run.limit_strategy, fits=bool(run.fits))


def _later(run: Run, answered: Run | None) -> Run | None:
    """The profile's answer, where it is a later run's of the same model: another's says nothing about this one."""
    if answered is None or (answered.queued_at, answered.pk) <= (run.queued_at, run.pk):
        return None
    return answered if of_one_model(run, answered) else None


def of_one_model(run: Run, other: Run) -> bool:
    return run.model_entry.name == other.model_entry.name


def _decided(share: Share, profile: Profile) -> tuple[datetime | None, Limit | None]:
    """Where the team deploys something else than the page says it does, or may."""
    then, now = share.snapshot["adopted"], profile.adoption
    if now is not None and not of_one_model(share.run, now.run):
        return None, None  # the page says that the profile asks something else now
    if now is None:
        return (_withdrawn_at(profile), None) if then else (None, None)
    shown = then or {"context": share.run.limit_context, "strategy": share.run.limit_strategy}
    if (now.context, now.strategy) == (shown["context"], shown["strategy"]):
        return None, None
    return now.adopted_at, Limit(context=now.context, strategy=now.strategy)


def _withdrawn_at(profile: Profile) -> datetime | None:
    found = Adoption.objects.filter(profile=profile).exclude(withdrawn_at=None).order_by("-withdrawn_at").first()
    return found.withdrawn_at if found else None
