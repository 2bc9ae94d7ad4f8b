"""One strategy's limit: the longest context that really ran acceptably, beside the first that did not."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any

from jobs.procedure.contexts import MULTIPLE_TOKENS
from jobs.procedure.events import Event, Stage
from jobs.procedure.evidence import Evidence
from jobs.procedure.measurement import Measurement
from jobs.procedure.verdict import Limiter, Verdict
from jobs.sizing.strategy import Strategy

MOST_CONTEXTS = 3  # beyond what the stages before have measured


@dataclass(frozen=True, kw_only=True)
class StrategyLimit:
    """best: the longest acceptable measurement below the first that is not; both None where there is none.

    confirmed: the step after `best` was seen not to be acceptable, or the workload or the model ends there.
    """

    strategy: Strategy
    best: Measurement | None
    failing: Measurement | None
    limited_by: Limiter | None
    confirmed: bool
    fits_workload: bool
    reason: str

    @property
    def is_open(self) -> bool:
        """Whether the measuring ended before the workload's end, or a context that fails, was seen."""
        return self.failing is None and not self.fits_workload

    def as_json(self) -> dict[str, Any]:
        return {
            "label": self.strategy.label,
            "context": self.best and self.best.context,
            "prompt": self.best and self.best.prompt,
            "limited_by": self.limited_by and str(self.limited_by),
            "first_failing_context": self.failing and self.failing.context,
            "confirmed": self.confirmed,
            "fits_workload": self.fits_workload,
            "reason": self.reason,
            "peak_bytes": self.best and self.best.peak_bytes,
            "decode_tokens_per_s": self.best and self.best.decode_tokens_per_s,
            "ttft_s": self.best and self.best.ttft_s,
        }


def find_limit(evidence: Evidence, strategy: Strategy) -> Generator[Event, None, StrategyLimit]:
    """Measure up to three contexts more, where the corrected curve points, then say what was seen."""
    for _ in range(MOST_CONTEXTS):
        prompt = next_prompt(evidence, strategy)
        if prompt is None:
            break
        if (yield from evidence.probe(Stage.LIMIT, strategy, prompt)) is None:
            break
    return conclude(evidence, strategy)


def next_prompt(evidence: Evidence, strategy: Strategy) -> int | None:
    """Where to measure next; None once the limit stands between two neighbouring steps, or at the workload's end.

    The corrected curve says where. Each time in a row that it promised too much, the way back doubles: 1, 2, 4 steps.
    """
    if evidence.is_limited_by_quality(strategy):
        return None
    judged = evidence.judged(strategy)
    best, failing = bracket(judged)
    low = best.prompt if best else None
    high = failing[0].prompt if failing else None
    inner = evidence.grid.between(low, high)
    if not judged or not inner:
        return None
    edge = evidence.edge(strategy, low, high) or inner[0]
    surprises = evidence.surprises(strategy)
    if not surprises:
        return edge
    return min(edge, inner[len(inner) // 2] if low is None else inner[-min(len(inner), 2 ** (surprises - 1))])


def bracket(
    judged: Sequence[tuple[Measurement, Verdict]],
) -> tuple[Measurement | None, tuple[Measurement, Verdict] | None]:
    """The longest acceptable point below the first one that is not, and that first one.

    Points above a failing one promise nothing: whoever uses the context may come by the failing one.
    """
    best = None
    for measurement, verdict in judged:
        if not verdict.acceptable:
            return best, (measurement, verdict)
        best = measurement
    return best, None


def conclude(evidence: Evidence, strategy: Strategy) -> StrategyLimit:
    best, failing = bracket(evidence.judged(strategy))
    at_end = best is not None and best.prompt == evidence.grid.longest
    limited_by, reason = _limiter(evidence, failing, at_end=at_end)
    neighbours = best is not None and failing is not None and not evidence.grid.between(best.prompt, failing[0].prompt)
    return StrategyLimit(
        strategy=strategy,
        best=best,
        failing=failing[0] if failing else None,
        limited_by=limited_by,
        confirmed=at_end or neighbours,
        fits_workload=at_end,
        reason=reason,
    )


def _limiter(
    evidence: Evidence, failing: tuple[Measurement, Verdict] | None, *, at_end: bool
) -> tuple[Limiter | None, str]:
    if failing is not None:
        measurement, verdict = failing
        return verdict.limiter, f"at {measurement.context:,} tokens {verdict.reason}"
    if not at_end:
        return None, "not measured to the end"
    native, longest = evidence.record.native_context, evidence.grid.longest + evidence.question.answer_tokens
    if native is not None and longest + MULTIPLE_TOKENS > native:
        return Limiter.NATIVE_CONTEXT, f"the model's own maximum is {native:,} tokens"
    return Limiter.WORKLOAD, f"the workload asks for no more than {longest:,} tokens"
