"""The quality of a quantized strategy: asked for once its edge is known, and the bound kept like memory's."""

from collections.abc import Generator
from dataclasses import replace

from jobs.procedure.events import Event
from jobs.procedure.evidence import Evidence, log
from jobs.procedure.measurement import Measurement, Outcome
from jobs.procedure.quality import (
    LEAST_CONTEXT_TOKENS,
    RANDOM_WEIGHTS,
    SCORED_TOKENS,
    Quality,
    QualityAsk,
    QualityOutcome,
)
from jobs.procedure.quality_text import figures_text
from jobs.procedure.strategy_limit import bracket
from jobs.procedure.words import tokens_text, with_strategy
from jobs.sizing.strategy import BASELINE, Strategy


def score(evidence: Evidence, strategy: Strategy) -> Generator[Event, None, None]:
    """At its longest acceptable context so far; where that is above the bound, at the short context too."""
    judged = evidence.judged(strategy)
    best, _ = bracket(judged)
    if best is None:
        return
    longest = yield from _score_at(evidence, strategy, best.context)
    short = judged[0][0].context
    if longest.is_above(evidence.bounds.max_kl) and short < longest.context:
        yield from _score_at(evidence, strategy, short)


def _score_at(evidence: Evidence, strategy: Strategy, context: int) -> Generator[Event, None, Quality]:
    ask = QualityAsk(strategy=strategy, context_tokens=context)
    why = _why_not(evidence, context)
    quality = ask.without_figures(QualityOutcome.NOT_MEASURED, why) if why else evidence.bench.quality(ask)
    within = _baseline_within(evidence, context)
    if quality.outcome is QualityOutcome.OUT_OF_MEMORY and within is not None:
        yield log(
            f"{quality.message[:1].upper()}{quality.message[1:]}; scored at {tokens_text(within.context)} instead."
        )
        quality = evidence.bench.quality(replace(ask, context_tokens=within.context))
    evidence.add_quality(strategy, quality)
    yield log(_told(strategy, quality, evidence.bounds.max_kl))
    return quality


def _why_not(evidence: Evidence, context: int) -> str | None:
    if evidence.loaded.random_weights:
        return RANDOM_WEIGHTS
    if context < LEAST_CONTEXT_TOKENS:
        return (
            f"{context:,} tokens are too few for it: to score {SCORED_TOKENS} of them past the window that stays "
            f"unquantized takes {LEAST_CONTEXT_TOKENS:,}"
        )
    return None


def _baseline_within(evidence: Evidence, context: int) -> Measurement | None:
    """The longest shorter context at which the normal cache ran and that holds the scored tokens."""
    ran = [m for m in evidence.of(BASELINE) if m.outcome is Outcome.OK]
    return next((m for m in reversed(ran) if LEAST_CONTEXT_TOKENS <= m.context < context), None)


def _told(strategy: Strategy, quality: Quality, max_kl: float | None) -> str:
    if quality.mean_kl is None:
        return f"Quality {with_strategy(strategy)} was not measured: {quality.message.removesuffix('.')}."
    bound = ""
    if max_kl is not None:
        unsure = ", though the interval holds it" * quality.straddles(max_kl)
        bound = f" The bound is {max_kl:g}: {'not kept' if quality.is_above(max_kl) else 'kept'}{unsure}."
    return (
        f"Quality {with_strategy(strategy)} at {tokens_text(quality.context)}: mean KL {figures_text(quality)}.{bound}"
    )
