"""The sizing curve of one strategy, corrected by what was measured."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import fmean

WIDE_ENOUGH = 1.5  # two points nearer than this tell an offset, not a slope
RATIO_LEAST, RATIO_MOST = 0.1, 5.0


@dataclass(frozen=True, kw_only=True)
class Correction:
    """corrected rise = offset + ratio × estimated rise; a rise is a peak without the weights, in bytes."""

    offset_bytes: float = 0.0
    ratio: float = 1.0

    def of(self, rise_bytes: float) -> float:
        return self.offset_bytes + self.ratio * rise_bytes

    @classmethod
    def fit(cls, pairs: Sequence[tuple[float, float]]) -> "Correction":
        """Least squares over (estimated rise, measured rise); one ratio alone where the points stand close together."""
        pairs = [(estimated, measured) for estimated, measured in pairs if estimated > 0]
        if not pairs:
            return cls()
        estimates = [estimated for estimated, _ in pairs]
        if max(estimates) < WIDE_ENOUGH * min(estimates):
            return cls(ratio=_bounded(max(pairs)[1] / max(pairs)[0]))
        middle, height = fmean(estimates), fmean(measured for _, measured in pairs)
        slope = sum((x - middle) * (y - height) for x, y in pairs) / sum((x - middle) ** 2 for x in estimates)
        ratio = _bounded(slope)
        return cls(offset_bytes=height - ratio * middle, ratio=ratio)


@dataclass(frozen=True, kw_only=True)
class Curve:
    """Predicted peaks by prompt. The nearest measured point shifts the curve, so that it goes through what was seen.

    estimate: the sizing's (peak, weights) at a prompt; weights_bytes as loaded; seen: prompt -> measured peak;
    refused: prompts that ran out of memory, which need more than the capacity.
    """

    estimate: Callable[[int], tuple[int, int]]
    weights_bytes: int
    seen: dict[int, int]
    refused: tuple[int, ...] = ()
    capacity_bytes: int = 0
    borrowed: Correction = Correction()

    def peak_bytes(self, prompt: int) -> int:
        return round(self._fitted(prompt) + self._shift(prompt))

    @property
    def without_refusals(self) -> "Curve":
        """What the points that ran say by themselves."""
        return replace(self, refused=())

    @cached_property
    def correction(self) -> Correction:
        """Fitted to the strategy's own points; the baseline's where there are none yet."""
        if not self.seen:
            return self.borrowed
        return Correction.fit(
            [(self._estimated_rise(prompt), peak - self.weights_bytes) for prompt, peak in self.seen.items()]
        )

    def _fitted(self, prompt: int) -> float:
        return self.weights_bytes + self.correction.of(self._estimated_rise(prompt))

    def _estimated_rise(self, prompt: int) -> int:
        peak, weights = self.estimate(prompt)
        return peak - weights

    def _shift(self, prompt: int) -> float:
        known = [*self.seen, *self.refused]
        if not known:
            return 0.0
        nearest = min(known, key=lambda point: (abs(point - prompt), point))
        if nearest in self.seen:
            return self.seen[nearest] - self._fitted(nearest)
        return max(0.0, self.capacity_bytes + 1 - self._fitted(nearest))


def _bounded(ratio: float) -> float:
    return min(RATIO_MOST, max(RATIO_LEAST, ratio))
