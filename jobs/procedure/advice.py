"""What would have to change where nothing fits, with figures; all but the shorter prompt are predicted."""

from collections.abc import Iterator, Sequence
from typing import Any

from jobs.procedure.combination import combined, combined_rise_bytes
from jobs.procedure.estimate import Estimator
from jobs.procedure.evidence import Evidence
from jobs.procedure.quality_text import closest_text
from jobs.procedure.strategy_limit import StrategyLimit
from jobs.procedure.verdict import ACCEPTABLE, Limiter, judge
from jobs.procedure.words import bytes_text, seconds_text, speed_text, tokens_text, with_strategy
from jobs.sizing.strategy import BASELINE, Strategy

CHUNK_TOKENS = 512


def to_change(evidence: Evidence, limits: Sequence[StrategyLimit], closest: StrategyLimit) -> list[dict[str, Any]]:
    """Rows of {"what", "sentence", "figures"}."""
    return [
        *_bigger_device(evidence, limits),
        *_shorter_prompt(evidence, closest),
        *_fewer_sequences(evidence, limits),
        *_combinations(evidence, limits),
        *_looser_bounds(evidence, limits),
        *_looser_quality(evidence, limits),
    ]


def needed_capacity_bytes(evidence: Evidence, strategy: Strategy) -> int:
    """Predicted for the workload's longest context, headroom included."""
    peak = evidence.curve(strategy).peak_bytes(evidence.grid.longest)
    return round(peak / (1 - evidence.question.headroom_percent / 100))


def _bigger_device(evidence: Evidence, limits: Sequence[StrategyLimit]) -> Iterator[dict[str, Any]]:
    """For the normal cache and for the strategy that needs least; nothing where the memory would do already."""
    good = [limit.strategy for limit in limits if limit.limited_by is not Limiter.QUALITY]
    short = [strategy for strategy in good if needed_capacity_bytes(evidence, strategy) > _capacity(evidence)]
    least = sorted(short, key=lambda strategy: needed_capacity_bytes(evidence, strategy))[:1]
    for strategy in dict.fromkeys([strategy for strategy in (BASELINE, *least) if strategy in short]):
        needed = needed_capacity_bytes(evidence, strategy)
        yield _row(
            "capacity",
            f"A device with about {bytes_text(needed)} would hold the workload {with_strategy(strategy)} (predicted).",
            strategy=str(strategy),
            capacity_bytes=needed,
            predicted=True,
        )


def _shorter_prompt(evidence: Evidence, closest: StrategyLimit) -> Iterator[dict[str, Any]]:
    if closest.best is None:
        return
    prompt = closest.best.prompt
    yield _row(
        "prompt",
        f"A prompt of at most {tokens_text(prompt)} fits {with_strategy(closest.strategy)} (measured).",
        strategy=str(closest.strategy),
        prompt_tokens=prompt,
        context_tokens=closest.best.context,
        predicted=False,
    )


def _fewer_sequences(evidence: Evidence, limits: Sequence[StrategyLimit]) -> Iterator[dict[str, Any]]:
    """The most sequences for which any strategy's corrected estimate fits."""
    for sequences in range(evidence.question.sequences - 1, 0, -1):
        for limit in limits:
            if limit.limited_by is Limiter.MEMORY and _fits(evidence, limit.strategy, sequences):
                yield _row(
                    "sequences",
                    f"{sequences} at once instead of {evidence.question.sequences} would fit "
                    f"{with_strategy(limit.strategy)} (predicted).",
                    strategy=str(limit.strategy),
                    sequences=sequences,
                    predicted=True,
                )
                return


def _combinations(evidence: Evidence, limits: Sequence[StrategyLimit]) -> Iterator[dict[str, Any]]:
    """Chunked prefill behind each strategy that ran without it and lacked memory."""
    chunks = [limit.strategy.chunk_tokens for limit in limits if limit.strategy.chunk_tokens]
    measured = {limit.strategy for limit in limits}
    for limit in limits:
        both = combined(limit.strategy, chunks[0] if chunks else CHUNK_TOKENS)
        if both.changes < 2 or both in measured or limit.limited_by is not Limiter.MEMORY:
            continue
        rise = combined_rise_bytes(evidence.question, evidence.record, both, evidence.grid.longest)
        if rise is not None and _holds(evidence, limit.strategy, rise):
            yield _row(
                "combination",
                f"The combination {both.label} would fit (predicted, not measured; it is two changes).",
                strategy=str(both),
                predicted=True,
            )


def _looser_bounds(evidence: Evidence, limits: Sequence[StrategyLimit]) -> Iterator[dict[str, Any]]:
    """A strategy that holds the workload and is only too slow for it, as measured."""
    for limit in limits:
        longest = evidence.at(limit.strategy, evidence.grid.longest)
        if longest is None or longest.peak_bytes is None or longest.peak_bytes > evidence.bounds.budget_bytes:
            continue
        speed = longest.decode_tokens_per_s
        if speed is not None and limit.limited_by is not Limiter.QUALITY:
            yield _row(
                "bounds",
                f"The workload fits in memory {with_strategy(limit.strategy)}, at {speed_text(speed)} and with the "
                f"first token after {seconds_text(longest.ttft_s or 0)} (measured): looser bounds on speed would do.",
                strategy=str(limit.strategy),
                decode_tokens_per_s=speed,
                ttft_s=longest.ttft_s,
                predicted=False,
            )


def _looser_quality(evidence: Evidence, limits: Sequence[StrategyLimit]) -> Iterator[dict[str, Any]]:
    """A quantized cache that keeps every bound at the workload's longest but the one on quality, as measured."""
    for limit in limits:
        longest = evidence.at(limit.strategy, evidence.grid.longest)
        if limit.limited_by is not Limiter.QUALITY or longest is None or judge(longest, evidence.bounds) != ACCEPTABLE:
            continue
        quality = evidence.qualities(limit.strategy)[0]
        yield _row(
            "quality",
            f"The workload fits {with_strategy(limit.strategy)}, but "
            f"{closest_text(quality, evidence.bounds.max_kl or 0)}.",
            strategy=str(limit.strategy),
            mean_kl=quality.mean_kl,
            max_kl=evidence.bounds.max_kl,
            predicted=False,
        )


def _fits(evidence: Evidence, strategy: Strategy, sequences: int) -> bool:
    """By the corrected estimate at the workload's longest with so many sequences."""
    estimator = Estimator.of(evidence.question, evidence.record, evidence.estimator(strategy).strategy, sequences)
    peak, weights = estimator.peak_and_weights(evidence.grid.longest)
    return _holds(evidence, strategy, peak - weights)


def _holds(evidence: Evidence, strategy: Strategy, rise_bytes: int) -> bool:
    """Whether an estimated rise, corrected by what the strategy measured, stays within capacity less headroom."""
    rise = evidence.curve(strategy).correction.of(rise_bytes)
    return evidence.loaded.weights_bytes + rise <= evidence.bounds.budget_bytes


def _capacity(evidence: Evidence) -> int:
    return evidence.bounds.capacity_bytes


def _row(what: str, sentence: str, **figures: Any) -> dict[str, Any]:
    return {"what": what, "sentence": sentence, "figures": figures}
