"""Everything a run's page prints, from what was kept of the run."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jobs.models import Run, RunState
from jobs.procedure.quality_text import WHAT_KL_IS
from jobs.selectors.run import events_after, measurements_of, queue_position, queue_reason
from jobs.web.formats import elapsed_s, tokens
from jobs.web.presenters.budgets import Budgets, budgets
from jobs.web.presenters.changes import ChangeRow, change_rows
from jobs.web.presenters.failures import Failure, failure
from jobs.web.presenters.limits import Answer, answer
from jobs.web.presenters.measurements import MeasurementRow, measurement_rows
from jobs.web.presenters.own_prompts import prompts_words
from jobs.web.presenters.questions import QuestionWords, question_words
from jobs.web.presenters.stages import StageRow, stage_rows
from jobs.web.presenters.story import Line, lines
from jobs.web.presenters.take_away import TakeAway, take_away

TITLES = {
    RunState.QUEUED: "Queued",
    RunState.RUNNING: "Running",
    RunState.CANCELLING: "Cancelling",
    RunState.FAILED: "Failed",
    RunState.CANCELLED: "Cancelled",
    RunState.LOST: "Lost",
}


@dataclass(frozen=True, kw_only=True)
class RunPage:
    """`lines` are those after the number that the browser already has."""

    run: Run
    title: str
    announcement: str
    words: QuestionWords
    prompts: str
    queue_position: int | None
    queue_reason: str
    stages: list[StageRow]
    answer: Answer | None
    failure: Failure | None
    budgets: Budgets | None
    changes: list[ChangeRow]
    measurements: list[MeasurementRow]
    last_seq: int
    lines: list[Line]
    elapsed_s: float | None
    environment: list[tuple[str, str]]
    no_change_needed: bool
    take_away: TakeAway

    @property
    def settings_differ(self) -> bool:
        return any(row.settings for row in self.changes)

    @property
    def what_kl_is(self) -> str:
        """In a few sentences, where a figure of it is shown, with the text that it was scored on."""
        scored = next((row.scored_on for row in self.changes if row.scored_on), "")
        return f"{WHAT_KL_IS} Scored on {scored}." if scored else ""


def run_page(run: Run, *, after: int = 0) -> RunPage:
    """As of now; the whole page and its live parts come from here alike."""
    events = every_event(run)
    found = answer(run.stages, run.question)
    waiting = run.state == RunState.QUEUED
    return RunPage(
        run=run,
        title=_title(run, found),
        announcement=_announcement(run, found),
        words=question_words(run.question),
        prompts=prompts_words(run.question, run.environment),
        queue_position=queue_position(run) if waiting else None,
        queue_reason=queue_reason(run) if waiting else "",
        stages=stage_rows(events, run.stages, active=run.is_active),
        answer=found,
        failure=failure(run),
        budgets=budgets(run.stages.get("budgets")),
        changes=change_rows(run.stages, max_kl=run.question.get("max_kl")),
        measurements=measurement_rows(measurements_of(run), run.stages),
        last_seq=events[-1]["seq"] if events else 0,
        lines=lines([event for event in events if event["seq"] > after]),
        elapsed_s=elapsed_s(run.started_at, run.finished_at),
        environment=environment_rows(run),
        no_change_needed=_no_change_needed(run.stages),
        take_away=take_away(run),
    )


def _no_change_needed(stages: Mapping[str, Any]) -> bool:
    """Once the limit is known, by it: none is tried either for want of time, or where a bound on speed is the limit."""
    changes, limit = stages.get("changes"), stages.get("limit")
    if changes is None or any(change["applicable"] is not None for change in changes):
        return False
    if limit is None:
        return not stages["baseline"]["memory_limits"]
    return bool(limit["by_strategy"]["default"]["fits_workload"])


def every_event(run: Run) -> list[dict[str, Any]]:
    """All of a run's events, a page at a time."""
    events: list[dict[str, Any]] = []
    while page := events_after(run, events[-1]["seq"] if events else 0):
        events.extend(page)
    return events


def environment_rows(run: Run) -> list[tuple[str, str]]:
    """Device and versions, flattened to name and value."""
    return sorted(_flat(run.environment, ""))


def _flat(data: Mapping[str, Any], prefix: str) -> list[tuple[str, str]]:
    rows: list[tuple[str, str]] = []
    for key, value in data.items():
        name = f"{prefix}{key}".replace("_", " ")
        if isinstance(value, Mapping):
            rows.extend(_flat(value, f"{name} · "))
        elif value is not None:
            rows.append((name, ", ".join(map(str, value)) if isinstance(value, list) else str(value)))
    return rows


def _title(run: Run, found: Answer | None) -> str:
    if run.state == RunState.DONE:
        return tokens(found.context) if found and found.context else (found.title if found else "Nothing fits")
    return TITLES[RunState(run.state)]


def _announcement(run: Run, found: Answer | None) -> str:
    """What a screen reader says when the state changes."""
    if run.state == RunState.DONE and found:
        return f"Done. {found.verdict}"
    return f"{TITLES.get(RunState(run.state), 'Done')}."
