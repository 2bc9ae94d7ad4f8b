"""What a shared answer begins with: the length that it stands for, and what makes it provisional, in a few words."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jobs.exports.share_text import verdict_text

QUALITY = "its quality was not measured"
UNCONFIRMED = "the step above was not tried"
STALE = "what it depends on had changed by the day of sharing"


@dataclass(frozen=True, kw_only=True)
class Headline:
    """context: tokens, None where nothing fits; measured: those that the team stays below, None where it decided for no
    fewer; cautions: what makes it provisional."""

    context: int | None
    strategy: str
    measured: int | None
    cautions: tuple[str, ...]


def headline(taken: Mapping[str, Any]) -> Headline:
    """Of a snapshot: what was measured, or the shorter length that the team had decided for."""
    limit, adopted = taken["limit"], taken["adopted"]
    if not _stays_below(taken):
        return Headline(
            context=limit["context"], strategy=limit["strategy"], measured=None, cautions=cautions_of(taken)
        )
    same = adopted["strategy"] == limit["strategy"]
    told = tuple(words for words in cautions_of(taken) if words == STALE or (same and words == QUALITY))
    return Headline(context=adopted["context"], strategy=adopted["strategy"], measured=limit["context"], cautions=told)


def answer_text(taken: Mapping[str, Any]) -> str:
    """In sentences: first what the team decided for where that is less than was measured."""
    workload = taken["workload"]
    told = verdict_text(
        taken["limit"],
        asked_context=int(workload["prompt_tokens"] or 0) + int(workload["answer_tokens"] or 0),
        sequences=int(workload["sequences"]),
        cautions=cautions_of(taken),
    )
    if not _stays_below(taken):
        return told
    decided, measured = taken["adopted"]["context"], taken["limit"]["context"]
    return f"The team deploys at most {decided:,} tokens; {measured:,} were measured. {told}"


def cautions_of(taken: Mapping[str, Any]) -> tuple[str, ...]:
    """Of what was measured, the gravest first."""
    limit, fits = taken["limit"], taken["limit"]["context"] is not None
    told = (
        (QUALITY, fits and limit["provisional"]),
        (UNCONFIRMED, fits and not limit["confirmed"]),
        (STALE, taken["freshness"] == "stale"),
    )
    return tuple(words for words, holds in told if holds)


def _stays_below(taken: Mapping[str, Any]) -> bool:
    adopted, measured = taken["adopted"], taken["limit"]["context"]
    return bool(adopted and measured and adopted["context"] < measured)
