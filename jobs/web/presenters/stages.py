"""The four stages of a run with their times, as far as they got."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from jobs.sizing.strategy import strategy_label
from jobs.web.formats import elapsed_s, size, tokens
from jobs.web.presenters.story import DOWNLOAD, STAGE_TITLES, parse_moment, stage_title

PURPOSES = {
    DOWNLOAD: "The model's files, before anything is timed.",
    "budgets": "Weights, KV cache and working memory: estimated, then measured.",
    "baseline": "The normal cache at growing contexts.",
    "changes": "One strategy at a time, all else equal.",
    "limit": "The longest context, confirmed by a real run.",
}


DOWNLOADING = "Downloading: "
"""How jobs.measuring.fetched_file says how far a download is."""


@dataclass(frozen=True, kw_only=True)
class StageRow:
    """number: of the four, None for what comes before them.

    status: waiting, running, done, stopped (the run ended within it) or skipped (the run ended before it).
    """

    name: str
    number: int | None
    title: str
    status: str
    text: str
    started_at: datetime | None
    elapsed_s: float | None


def stage_rows(events: list[dict[str, Any]], stages: Mapping[str, Any], *, active: bool) -> list[StageRow]:
    """One row a stage, and one before them for a download; times come from the events, of the latest attempt."""
    times = _times(events)
    doing = _doing(events)
    names = [DOWNLOAD] * (DOWNLOAD in times) + [*STAGE_TITLES]
    return [_row(name, times.get(name, (None, None)), stages.get(name), doing, active) for name in names]


def _row(name: str, span: tuple[datetime | None, datetime | None], result: Any, doing: str, active: bool) -> StageRow:
    started_at, finished_at = span
    if finished_at:
        status, text = "done", _outcome(name, result)
    elif started_at:
        status, text = ("running", doing or PURPOSES[name]) if active else ("stopped", "The run ended here.")
    else:
        status, text = ("waiting", PURPOSES[name]) if active else ("skipped", "Not reached.")
    return StageRow(
        name=name,
        number=None if name == DOWNLOAD else 1 + [*STAGE_TITLES].index(name),
        title=stage_title(name),
        status=status,
        text=text,
        started_at=started_at,
        elapsed_s=elapsed_s(started_at, finished_at),
    )


def _times(events: list[dict[str, Any]]) -> dict[str, tuple[datetime | None, datetime | None]]:
    times: dict[str, tuple[datetime | None, datetime | None]] = {}
    for event in events:
        if event["kind"] == "stage_started":
            times[event["data"]["stage"]] = (parse_moment(event["at"]), None)
        elif event["kind"] == "stage_finished":
            stage = event["data"]["stage"]
            times[stage] = (times.get(stage, (None, None))[0], parse_moment(event["at"]))
    return times


def _doing(events: list[dict[str, Any]]) -> str:
    """What is being measured now."""
    for event in reversed(events):
        if event["kind"] == "measuring":
            data = event["data"]
            return f"Measuring {strategy_label(data['strategy'])} at {tokens(data['context'])}."
        if event["kind"] == "log" and str(event["data"]["message"]).startswith(DOWNLOADING):
            return str(event["data"]["message"])
        if event["kind"] in {"stage_started", "measurement"}:
            return ""
    return ""


def _outcome(name: str, result: Any) -> str:
    if not result:
        return ""
    match name:
        case "download":
            return _download_outcome(result)
        case "budgets":
            return _budgets_outcome(result)
        case "baseline":
            return _baseline_outcome(result)
        case "changes":
            return _changes_outcome(result)
        case "limit":
            if not result.get("context"):
                return "No context fits."
            return f"{tokens(result['context'])}{', confirmed' if result.get('confirmed') else ''}."
    return ""


def _download_outcome(result: Mapping[str, Any]) -> str:
    whole, fresh = result["bytes"], result["fetched_bytes"]
    if fresh == whole:
        return f"{size(whole)} downloaded."
    return f"{size(fresh)} of {size(whole)} downloaded." if fresh else f"All {size(whole)} were here already."


def _changes_outcome(result: list[Mapping[str, Any]]) -> str:
    tried = sum(change["applicable"] is True for change in result)
    refused = sum(change["applicable"] is False for change in result)
    if tried or refused:
        return f"{tried} tried, {refused} not applicable." if refused else f"{tried} tried."
    return "None was needed." if result else "None was asked for."


def _budgets_outcome(result: Mapping[str, Any]) -> str:
    peak = result.get("peak") or {}
    where = f" at {tokens(result['at_context'])}" if result.get("at_context") else ""
    if peak.get("measured_bytes") is None:
        return f"{size(peak.get('estimated_bytes'))} estimated{where}."
    return f"Peak{where}: {size(peak['estimated_bytes'])} estimated, {size(peak['measured_bytes'])} measured."


def _baseline_outcome(result: Mapping[str, Any]) -> str:
    rows = result["measurements"]
    ran = [row["context"] for row in rows if row["outcome"] == "ok"]
    failed = [row["context"] for row in rows if row["outcome"] == "out_of_memory"]
    if failed:
        return f"Ran up to {tokens(max(ran, default=0))}; out of memory at {tokens(min(failed))}."
    return f"Ran at {len(ran)} contexts up to {tokens(max(ran, default=0))}."
