"""The answer in a plain sentence with its figures."""

from collections.abc import Sequence

from jobs.procedure.evidence import Evidence
from jobs.procedure.strategy_limit import StrategyLimit
from jobs.procedure.words import bytes_text, speed_text, tokens_text, with_strategy
from jobs.sizing.strategy import BASELINE


def verdict_text(evidence: Evidence, limits: Sequence[StrategyLimit], chosen: StrategyLimit) -> str:
    if not chosen.fits_workload and any(limit.is_open for limit in limits):
        return _unanswered(evidence, chosen)
    if chosen.best is None:
        return f"Nothing fits, not even a short context: {chosen.reason}."
    if not chosen.fits_workload:
        return (
            f"Nothing fits the workload's {_asked(evidence, evidence.question.context_tokens)}. The closest is "
            f"{tokens_text(chosen.best.context)} {with_strategy(chosen.strategy)}; {chosen.reason}."
        )
    if chosen.strategy == BASELINE:
        return (
            f"The workload's {_asked(evidence, chosen.best.context)} fit with the normal cache"
            f"{_peak(evidence, chosen)}. No change is needed."
        )
    baseline = next(limit for limit in limits if limit.strategy == BASELINE)
    ends = f"ends at {tokens_text(baseline.best.context)}" if baseline.best else "fits no context that was measured"
    return (
        f"The workload's {_asked(evidence, chosen.best.context)} fit {with_strategy(chosen.strategy)}"
        f"{_peak(evidence, chosen)}{_speed(chosen)}. The normal cache {ends}."
    )


def _unanswered(evidence: Evidence, chosen: StrategyLimit) -> str:
    """Time ran out, or others ended the process: whether the workload fits was not seen."""
    asked = f"the workload's {_asked(evidence, evidence.question.context_tokens)}"
    if chosen.best is None:
        return f"No answer for {asked}: the measuring ended before any context was seen to fit."
    ran = f"{tokens_text(chosen.best.context)} {with_strategy(chosen.strategy)}"
    return f"No answer for {asked}: the measuring ended before. The longest that was seen to fit is {ran}."


def _asked(evidence: Evidence, context: int) -> str:
    """“4,352 tokens”; “3 × 4,352 tokens” for several sequences."""
    sequences = evidence.question.sequences
    return tokens_text(context) if sequences == 1 else f"{sequences:,} × {tokens_text(context)}"


def _peak(evidence: Evidence, chosen: StrategyLimit) -> str:
    if chosen.best is None or chosen.best.peak_bytes is None:
        return ""
    bounds = evidence.bounds
    left = bytes_text(bounds.budget_bytes - chosen.best.peak_bytes)
    kept = " beside the headroom" if bounds.headroom_bytes else ""
    return f": {bytes_text(chosen.best.peak_bytes)} of {bytes_text(bounds.capacity_bytes)}, {left} to spare{kept}"


def _speed(chosen: StrategyLimit) -> str:
    speed = chosen.best and chosen.best.decode_tokens_per_s
    return f", at {speed_text(speed)}" if speed else ""
