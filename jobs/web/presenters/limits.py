"""The answer of a run: the max context, what limits it, and what would have to change."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jobs.procedure.quality_text import kept_text, kl_text, provisional_text, quality_at
from jobs.procedure.recheck import is_open
from jobs.sizing.strategy import strategy_label
from jobs.web.formats import strategy_series, tokens

LIMITED_BY = {
    "memory": "device memory",
    "speed": "the minimum speed",
    "ttft": "the time to first token",
    "quality": "the bound on quality",
    "host_memory": "CPU RAM",
    "native_context": "the model’s own maximum",
    "workload": "the workload",
}
UNLIMITED = {"workload", "native_context"}


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """What would have to change, in a sentence; strategy: a combination to be measured, empty for anything else."""

    sentence: str
    strategy: str = ""


@dataclass(frozen=True, kw_only=True)
class Answer:
    """context is None where not even the shortest prompt fits. provisional: why it is, empty where it is not.

    quality: what the quantized cache recommended was found to cost; empty for any other.
    """

    context: int | None
    strategy: str
    series: str
    fits: bool
    title: str
    verdict: str
    limited_by: str
    ran_at: int | None
    failed_at: int | None
    failed_why: str
    confirmed: bool
    provisional: str
    quality: str
    sequences: int
    headroom_bytes: int | None
    capacity_bytes: int | None
    headroom_percent: float
    to_change: tuple[Proposal, ...]
    beyond: str
    holds_for: str
    weights_note: str
    snippet: str


def answer(stages: Mapping[str, Any], question: Mapping[str, Any]) -> Answer | None:
    """From the limit stage; None before it finished."""
    limit = stages.get("limit")
    if not limit:
        return None
    budgets = stages.get("budgets") or {}
    context, name = limit.get("context"), str(limit.get("strategy") or "default")
    fits = bool(limit.get("fits_workload"))
    return Answer(
        context=context,
        strategy=strategy_label(name),
        series=strategy_series(name),
        fits=fits,
        title=_title(limit),
        verdict=str(limit.get("verdict") or ""),
        limited_by=LIMITED_BY.get(str(limit.get("limited_by")), str(limit.get("limited_by") or "")),
        ran_at=context,
        failed_at=limit.get("first_failing_context"),
        failed_why=_failed_why(limit),
        confirmed=bool(limit.get("confirmed")),
        provisional=provisional_text(stages) if limit.get("provisional") else "",
        quality=_quality(stages, name, question.get("max_kl")),
        sequences=question.get("sequences", 1),
        headroom_bytes=budgets.get("headroom_bytes"),
        capacity_bytes=budgets.get("capacity_bytes"),
        headroom_percent=question["headroom_percent"],
        to_change=tuple(_change(row) for row in limit.get("to_change") or ()),
        beyond=_beyond(limit),
        holds_for=str(limit.get("holds_for") or ""),
        weights_note=str(limit.get("weights_note") or ""),
        snippet=str(limit.get("snippet") or ""),
    )


def _quality(stages: Mapping[str, Any], name: str, max_kl: float | None) -> str:
    """“mean KL 0.060, within the bound of 0.2”."""
    quality = quality_at(stages, name)
    if quality is None or quality.mean_kl is None:
        return ""
    return ", ".join(text for text in (f"mean KL {kl_text(quality.mean_kl)}", kept_text(quality, max_kl)) if text)


def _change(row: Mapping[str, Any]) -> Proposal:
    combined = row["what"] == "combination"
    return Proposal(sentence=row["sentence"], strategy=row["figures"]["strategy"] if combined else "")


def _title(limit: Mapping[str, Any]) -> str:
    if limit.get("fits_workload"):
        return "Max context"
    if is_open(limit):
        return "No answer yet. The longest seen to fit:" if limit.get("context") else "No answer"
    return "Nothing fits the workload. The closest:" if limit.get("context") else "Nothing fits"


def _failed_why(limit: Mapping[str, Any]) -> str:
    """The reason without its context, which is printed before it; empty where the verdict says it."""
    reason = str(limit.get("reason") or "")
    context = limit.get("first_failing_context")
    if reason and reason in str(limit.get("verdict") or ""):
        return ""
    return reason.removeprefix(f"at {context:,} tokens ") if context else reason


def _beyond(limit: Mapping[str, Any]) -> str:
    """How far the corrected curve goes on where the workload ended the measuring: predicted, and said so."""
    longest = limit.get("longest_predicted")
    if not longest or longest["context"] <= (limit.get("context") or 0):
        return ""
    end = ", the model’s own maximum" if longest.get("to_native_context") else ""
    return (
        f"By the corrected estimate it would go on to about {tokens(longest['context'])}{end}: predicted, not measured."
    )
