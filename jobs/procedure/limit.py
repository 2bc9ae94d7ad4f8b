"""Stage 4: the limit of every strategy that ran, and which of them to take."""

from collections.abc import Generator, Sequence
from typing import Any

from jobs.procedure.advice import to_change
from jobs.procedure.answer_text import verdict_text
from jobs.procedure.contexts import step_after
from jobs.procedure.events import Event
from jobs.procedure.evidence import Evidence, log
from jobs.procedure.question import Question
from jobs.procedure.recommend import is_provisional, recommend
from jobs.procedure.snippet import generate_settings, snippet
from jobs.procedure.strategy_limit import StrategyLimit, find_limit
from jobs.procedure.verdict import Limiter
from jobs.sizing.stored import AS_STORED, PACKED_WORDS, dequantized_words
from jobs.sizing.strategy import BASELINE, Strategy

PREDICTED_MOST_TOKENS = 2**22


def limit(evidence: Evidence, tried: Sequence[Strategy]) -> Generator[Event, None, dict[str, Any]]:
    """Confirm each limit by real runs, then recommend."""
    limits = []
    for strategy in (BASELINE, *tried):
        limits.append((yield from find_limit(evidence, strategy)))
    chosen = recommend(limits)
    verdict = verdict_text(evidence, limits, chosen)
    yield log(verdict)
    rows = [] if chosen.fits_workload else to_change(evidence, limits, chosen)
    return _result(evidence, limits, chosen) | {"verdict": verdict, "to_change": rows}


def _result(evidence: Evidence, limits: Sequence[StrategyLimit], chosen: StrategyLimit) -> dict[str, Any]:
    question = evidence.question
    best, failing = chosen.best, chosen.failing
    return {
        "context": best and best.context,
        "prompt": best and best.prompt,
        "strategy": str(chosen.strategy),
        "label": chosen.strategy.label,
        "limited_by": chosen.limited_by and str(chosen.limited_by),
        "reason": chosen.reason,
        "confirmed": chosen.confirmed,
        "first_failing_context": failing and failing.context,
        "ran_at": best and best.as_json(),
        "failed_at": failing and failing.as_json(),
        "fits_workload": chosen.fits_workload,
        "workload_context": question.context_tokens,
        "provisional": _provisional(evidence, chosen),
        "by_strategy": {
            str(limit.strategy): limit.as_json() | {"provisional": _provisional(evidence, limit)} for limit in limits
        },
        "longest_predicted": _longest_predicted(evidence, chosen),
        "headroom_percent": question.headroom_percent,
        "headroom_bytes": evidence.bounds.headroom_bytes,
        "capacity_bytes": evidence.bounds.capacity_bytes,
        "settings": generate_settings(chosen.strategy, question.answer_tokens),
        "snippet": snippet(
            chosen.strategy,
            model=question.model,
            answer_tokens=question.answer_tokens,
            dtype=question.dtype,
            attention=question.attention,
            device=question.device,
            random_weights=evidence.loaded.random_weights,
            gguf_file=evidence.loaded.environment.get("gguf_file"),
            weights=question.weights,
        ),
        "holds_for": _holds_for(evidence, chosen),
        "weights_note": _weights_note(evidence),
    }


def _provisional(evidence: Evidence, found: StrategyLimit) -> bool:
    measured = any(quality.is_within(evidence.bounds.max_kl) for quality in evidence.qualities(found.strategy))
    return is_provisional(found, random_weights=evidence.loaded.random_weights, quality_measured=measured)


def _longest_predicted(evidence: Evidence, chosen: StrategyLimit) -> dict[str, Any] | None:
    """Where the workload ends the measuring: how far the corrected curve goes on fitting, in steps of the grid."""
    if chosen.limited_by is not Limiter.WORKLOAD:
        return None
    curve, answer = evidence.curve(chosen.strategy), evidence.question.answer_tokens
    most = evidence.record.native_context or PREDICTED_MOST_TOKENS
    prompt = evidence.grid.longest
    while (after := prompt + step_after(prompt)) + answer <= most:
        if curve.peak_bytes(after) > evidence.bounds.budget_bytes:
            break
        prompt = after
    return {"context": prompt + answer, "predicted": True, "to_native_context": after + answer > most}


def _holds_for(evidence: Evidence, chosen: StrategyLimit) -> str:
    question, loaded = evidence.question, evidence.loaded
    sequences = "1 sequence" if question.sequences == 1 else f"{question.sequences} sequences"
    transformers = evidence.record.versions.get("transformers", "this version")
    return (
        f"transformers' generate(), this model revision ({question.model}), {question.dtype}{_packed(question)}, "
        f"{chosen.strategy.label}, {sequences}, this device ({loaded.device.get('name', question.device)}) "
        f"and these library versions (transformers {transformers})"
    )


def _weights_note(evidence: Evidence) -> str | None:
    """Where the weights in memory are not those that the reader may think of."""
    if not evidence.loaded.environment.get("gguf_file"):
        return None
    return f"The GGUF file's weights were {dequantized_words(evidence.question.dtype)}."


def _packed(question: Question) -> str:
    return "" if question.weights == AS_STORED else f" with weights packed in {PACKED_WORDS[question.weights]}"
