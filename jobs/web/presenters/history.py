"""A profile's runs in time: the rows of the table, and the same as points of the plots."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from jobs.charts import limit_history_figure, speed_history_figure
from jobs.charts.history import Adopted, HistoryPoint
from jobs.models import Adoption, Profile, Purpose, Run
from jobs.procedure.freshness import differences, versions_in
from jobs.selectors.freshness import basis_of
from jobs.selectors.history import answered_before
from jobs.sizing.strategy import strategy_label
from jobs.web.formats import elapsed_s
from jobs.web.presenters.asker import submitter
from jobs.web.presenters.limits import LIMITED_BY
from jobs.web.presenters.profile_rows import device_name

LEAST_DRAWN = 2
IN_SHORT = ("transformers", "torch", "driver")


@dataclass(frozen=True, kw_only=True)
class HistoryRow:
    """changed: what differs from the answered run before it, each thing in a sentence; empty where there is none."""

    pk: int
    state: str
    answered: bool
    context: int | None
    strategy: str
    limited_by: str
    tokens_per_s: float | None
    device: str
    environment: str
    purpose: str
    by: str
    elapsed_s: float | None
    at: datetime
    changed: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class History:
    """rows: the latest first. figures: none before there are two answers to draw."""

    rows: list[HistoryRow]
    figures: dict[str, Any]

    @property
    def comparable(self) -> bool:
        """Whether there are runs to set side by side."""
        return len(self.rows) > 1


def history(runs: Sequence[Run], profile: Profile) -> History:
    """Of one page of a profile's runs, the latest first; one query, for the answered run before them."""
    changed = _changed(runs)
    rows = [_row(run, profile, changed.get(run.pk, ())) for run in runs]
    answered = [run for run in reversed(runs) if run.answered]
    drawn = answered if len(answered) >= LEAST_DRAWN else []
    return History(rows=rows, figures=_figures(drawn, changed, profile.adoption))


def _changed(runs: Sequence[Run]) -> dict[int, tuple[str, ...]]:
    """By the number of each answered run that has one before it."""
    answered = [run for run in runs if run.answered]
    if not answered:
        return {}
    earlier = [*answered[1:], answered_before(answered[-1])]
    return {run.pk: _between(before, run) for run, before in zip(answered, earlier, strict=True) if before}


def _between(before: Run, run: Run) -> tuple[str, ...]:
    found = differences(basis_of(before), basis_of(run), strategy=before.limit_strategy)
    return tuple(difference.sentence for difference in found)


def _row(run: Run, profile: Profile, changed: tuple[str, ...]) -> HistoryRow:
    return HistoryRow(
        pk=run.pk,
        state=run.state,
        answered=run.answered,
        context=run.limit_context,
        strategy=strategy_label(run.limit_strategy) if run.limit_strategy else "",
        limited_by=LIMITED_BY.get(run.limited_by, ""),
        tokens_per_s=run.tokens_per_s,
        device=device_name(run, profile),
        environment=_in_short(run),
        purpose=Purpose(run.purpose).label,
        by=submitter(run),
        elapsed_s=elapsed_s(run.started_at, run.finished_at),
        at=run.finished_at or run.queued_at,
        changed=changed,
    )


def _in_short(run: Run) -> str:
    """“transformers 5.24.0, torch 2.13.0”."""
    found = versions_in(run.environment)
    return ", ".join(f"{name} {found[name]}" for name in IN_SHORT if name in found)


def _figures(runs: Sequence[Run], changed: dict[int, tuple[str, ...]], adoption: Adoption | None) -> dict[str, Any]:
    if not runs:
        return {}
    points = [
        HistoryPoint(
            run=run.pk,
            at=run.finished_at or run.queued_at,
            context=run.limit_context,
            strategy=run.limit_strategy if run.limit_context else "",
            tokens_per_s=run.tokens_per_s,
            changed=changed.get(run.pk, ()),
        )
        for run in runs
    ]
    adopted = Adopted(context=adoption.context, strategy=adoption.strategy) if adoption else None
    return {"limit": limit_history_figure(points, adopted), "speed": speed_history_figure(points)}
