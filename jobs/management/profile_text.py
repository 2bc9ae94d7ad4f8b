"""A run's answer for a person at a terminal."""

from collections.abc import Iterator, Mapping
from typing import Any

from jobs.procedure.quality_text import WHAT_KL_IS, figures_text, provisional_text, quality_at
from jobs.procedure.words import bytes_text, percent_text, speed_text, tokens_text

LABEL_WIDTH = 26


def answer_text(stages: Mapping[str, Any]) -> str:
    limit = stages["limit"]
    return "\n".join(
        [
            *_headline(stages),
            "",
            *_strategies(limit),
            *_left_out(stages),
            *_quality(stages),
            *_to_change(limit),
            *_settings(limit),
        ]
    )


def _headline(stages: Mapping[str, Any]) -> Iterator[str]:
    limit = stages["limit"]
    yield limit["verdict"]
    if limit["context"] is None:
        return
    words = limit["limited_by"] or "a failure"
    yield f"Max context: {tokens_text(limit['context'])} with {limit['label']}, limited by {words.replace('_', ' ')}."
    failing = limit["first_failing_context"]
    beside = f", failed at {failing:,}" if failing else ""
    confirmed = "confirmed by a real run there" if limit["confirmed"] else "the next step was not measured"
    yield f"Ran at {limit['context']:,}{beside}; {confirmed}; headroom {percent_text(limit['headroom_percent'])}."
    if limit["weights_note"]:
        yield limit["weights_note"]
    if limit["provisional"]:
        yield provisional_text(stages)


def _strategies(limit: Mapping[str, Any]) -> Iterator[str]:
    for found in limit["by_strategy"].values():
        if found["context"] is None:
            yield f"  {found['label']:<{LABEL_WIDTH}}nothing fits: {found['reason']}"
            continue
        speed = found["decode_tokens_per_s"]
        figures = [tokens_text(found["context"]), bytes_text(found["peak_bytes"])]
        yield f"  {found['label']:<{LABEL_WIDTH}}" + ", ".join(figures + ([speed_text(speed)] if speed else []))


def _left_out(stages: Mapping[str, Any]) -> Iterator[str]:
    for change in stages["changes"]:
        if not change["applicable"]:
            yield f"  {change['label']:<{LABEL_WIDTH}}{change['reason']}"


def _quality(stages: Mapping[str, Any]) -> Iterator[str]:
    """Of every quantized cache that ran."""
    found = [(change, quality_at(stages, change["strategy"])) for change in stages["changes"]]
    scored = [(change["label"], quality) for change, quality in found if quality is not None]
    if not scored:
        return
    yield "\nQuality against the normal cache (mean KL, 95 % interval):"
    for label, quality in scored:
        at = f", at {tokens_text(quality.context)}" if quality.mean_kl is not None else ""
        yield f"  {label:<{LABEL_WIDTH}}{figures_text(quality)}{at}"
    if any(quality.mean_kl is not None for _, quality in scored):
        yield f"  {WHAT_KL_IS}"


def _to_change(limit: Mapping[str, Any]) -> Iterator[str]:
    if limit["to_change"]:
        yield "\nWhat would have to change:"
        yield from (f"  {row['sentence']}" for row in limit["to_change"])


def _settings(limit: Mapping[str, Any]) -> Iterator[str]:
    if limit["context"] is not None:
        yield f"\nIt holds for {limit['holds_for']}.\n\n{limit['snippet']}"
