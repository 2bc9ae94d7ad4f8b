"""Which strategy to take: the normal cache if the workload fits with it, else the fastest that fits."""

from collections.abc import Sequence

from jobs.procedure.strategy_limit import StrategyLimit
from jobs.sizing.strategy import BASELINE


def recommend(limits: Sequence[StrategyLimit]) -> StrategyLimit:
    """Of the limits found, the baseline's first; where none fits the workload, the one that comes closest."""
    baseline = next(limit for limit in limits if limit.strategy == BASELINE)
    if baseline.fits_workload:
        return baseline
    fitting = [limit for limit in limits if limit.fits_workload]
    return max(fitting, key=_speed) if fitting else max(limits, key=_reach)


def is_provisional(limit: StrategyLimit, *, random_weights: bool, quality_measured: bool) -> bool:
    """A quantized cache is only promised once its quality was measured, on the model's real weights."""
    return limit.strategy.is_quantized and (random_weights or not quality_measured)


def _speed(limit: StrategyLimit) -> float:
    return (limit.best and limit.best.decode_tokens_per_s) or 0.0


def _reach(limit: StrategyLimit) -> tuple[int, float]:
    return (limit.best.context if limit.best else 0, _speed(limit))
