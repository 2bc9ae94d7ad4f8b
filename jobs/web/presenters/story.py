"""A run's events in plain words: one line an event, for the log."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.dateparse import parse_datetime

from jobs.sizing.strategy import strategy_label
from jobs.web.formats import seconds, size, speed, tokens

STAGE_TITLES = {"budgets": "Budgets", "baseline": "Baseline", "changes": "Changes", "limit": "Limit"}
DOWNLOAD, DOWNLOAD_TITLE = "download", "Download"
"""Before the four, of a Hub model alone."""
STATE_LINES = {
    "queued": "Waiting in the queue.",
    "running": "The worker took the run.",
    "cancelling": "Cancelling: the measuring process is being stopped.",
    "done": "Done.",
    "failed": "The run failed.",
    "cancelled": "Cancelled: the measuring process is gone.",
    "lost": "The run is lost: its worker died twice.",
}


@dataclass(frozen=True, kw_only=True)
class Line:
    seq: int
    at: datetime | None
    text: str
    tone: str = ""


def lines(events: list[dict[str, Any]]) -> list[Line]:
    """The log; events that say nothing to a reader are left out."""
    told = []
    for event in events:
        text, tone = sentence(event["kind"], event["data"])
        if text:
            told.append(Line(seq=event["seq"], at=parse_moment(event["at"]), text=text, tone=tone))
    return told


def sentence(kind: str, data: Mapping[str, Any]) -> tuple[str, str]:
    """The sentence (empty for what a reader need not hear) and its tone ("", "good", "bad", "strong")."""
    match kind:
        case "log":
            return str(data.get("message", "")), ""
        case "state":
            state = str(data.get("state", ""))
            tone = {"done": "good", "failed": "bad", "lost": "bad"}.get(state, "strong")
            return str(data.get("message") or STATE_LINES.get(state, state)), tone
        case "stage_started":
            return f"{_stage(data)} started.", "strong"
        case "stage_finished":
            return f"{_stage(data)} finished.", "strong"
        case "measuring":
            return f"Measuring {strategy_label(str(data['strategy']))} at {tokens(data['context'])} …", ""
        case "measurement":
            return measured(data), ""
        case "loaded":
            return f"Model loaded in {seconds(data.get('load_s'))}: weights {size(data.get('weights_bytes'))}.", ""
    return "", ""


def measured(row: Mapping[str, Any]) -> str:
    """One measurement as a sentence; of one that did not run well the procedure tells the reason itself."""
    if row["outcome"] != "ok":
        return ""
    return (
        f"{strategy_label(row['strategy'])} at {tokens(row['context'])}: peak {size(row['peak_bytes'])}, "
        f"first token after {seconds(row['ttft_s'])}, {speed(row['decode_tokens_per_s'])} tokens/s."
    )


def reason(row: Mapping[str, Any]) -> str:
    error = row.get("error") or {}
    return str(error.get("message", ""))


def parse_moment(value: datetime | str | None) -> datetime | None:
    return parse_datetime(value) if isinstance(value, str) else value


def _stage(data: Mapping[str, Any]) -> str:
    return stage_title(str(data.get("stage", "")))


def stage_title(stage: str) -> str:
    return DOWNLOAD_TITLE if stage == DOWNLOAD else STAGE_TITLES.get(stage, stage)
