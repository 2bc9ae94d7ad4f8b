"""What a team adopted of a profile's answers."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from jobs.models import Adoption, Freshness, Profile, Run
from jobs.services.adoption import limits_of
from jobs.sizing.strategy import strategy_label
from jobs.web.formats import strategy_series, tokens


@dataclass(frozen=True, kw_only=True)
class AdoptionRow:
    """beyond: what the current answer says against it, in a sentence; empty where it says nothing."""

    pk: int
    run_pk: int
    context: int
    strategy: str
    series: str
    reason: str
    by: str
    at: datetime
    withdrawn_at: datetime | None
    beyond: str


def adoption_row(adoption: Adoption, answer: Run | None = None) -> AdoptionRow:
    """answer: the profile's current one, for the adoption in force."""
    return AdoptionRow(
        pk=adoption.pk,
        run_pk=adoption.run_id,
        context=adoption.context,
        strategy=strategy_label(adoption.strategy),
        series=strategy_series(adoption.strategy),
        reason=adoption.reason,
        by=adoption.adopted_by.get_username() if adoption.adopted_by else "someone who left",
        at=adoption.adopted_at,
        withdrawn_at=adoption.withdrawn_at,
        beyond=_beyond(adoption, answer) if answer else "",
    )


def adoption_rows(adoptions: Iterable[Adoption]) -> list[AdoptionRow]:
    return [adoption_row(adoption) for adoption in adoptions]


def doubts(run: Run, profile: Profile) -> list[str]:
    """What whoever adopts a limit of this run should know of it."""
    told = []
    if run.stages.get("limit", {}).get("provisional"):
        told.append("This answer is provisional.")
    if profile.answer_run_id != run.pk:
        told.append("There is a later answer than this run’s.")
    elif profile.freshness == Freshness.STALE:
        told.append("This answer is stale: what it was measured with has changed since.")
    elif profile.freshness == Freshness.DOUBT:
        told.append("This answer is in doubt: some of what it was measured with has changed since.")
    return told


def _beyond(adoption: Adoption, answer: Run) -> str:
    limit = limits_of(answer.stages).get(adoption.strategy)
    if answer.pk == adoption.run_id and answer.stages["limit"]["by_strategy"][adoption.strategy].get("provisional"):
        return "It is provisional: what this strategy costs in quality was not measured."
    if limit is None:
        return f"The current answer, of run {answer.pk}, has no limit with this strategy."
    if limit < adoption.context:
        return f"The current answer, of run {answer.pk}, is lower with this strategy: {tokens(limit)}."
    return ""
