"""Prompts as pages tell them: never their text."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jobs.models import ModelEntry, PromptSet
from jobs.procedure.prompt_lengths import PromptLengths
from jobs.web.formats import number

SHOWN_BAD_LINES = 10


@dataclass(frozen=True, kw_only=True)
class PromptsShown:
    """lengths: of the model's tokens, empty while nobody has counted."""

    name: str
    count: int
    lengths: str
    suggestion: str
    bad_lines: tuple[str, ...]
    more_bad_lines: int


def prompts_shown(prompts: PromptSet, entry: ModelEntry | None, lengths: PromptLengths | None) -> PromptsShown:
    known = entry is not None and lengths is not None
    bad = [f"Line {line['number']:,} is not used: {line['reason']}." for line in prompts.bad_lines]
    return PromptsShown(
        name=prompts.name,
        count=prompts.count,
        lengths=f"For {entry}: {lengths_text(lengths)}" if known and lengths else "",
        suggestion=suggestion_text(lengths) if known and lengths else "",
        bad_lines=tuple(bad[:SHOWN_BAD_LINES]),
        more_bad_lines=max(0, len(bad) - SHOWN_BAD_LINES),
    )


def lengths_text(lengths: PromptLengths) -> str:
    return (
        f"half have up to {number(lengths.p50)} tokens, 95 % up to {number(lengths.p95)}, "
        f"the longest {number(lengths.longest)}"
    )


def suggestion_text(lengths: PromptLengths) -> str:
    return f"typical {number(lengths.suggested_typical)}, longest {number(lengths.suggested_longest)}"


def prompts_words(question: Mapping[str, Any], environment: Mapping[str, Any]) -> str:
    """Which prompts a question was, or will be, measured with; `environment` is of the run that was, else empty."""
    if not question.get("prompts_sha256"):
        return "random tokens"
    told = environment.get("prompts")
    if not told:
        return "own prompts"
    return f"{number(told['count'])} own prompts: {lengths_text(PromptLengths.from_json(told))}"
