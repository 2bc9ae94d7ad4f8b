"""The sizing curve of one strategy, corrected by what was measured."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean

from jobs.procedure.measurement import Measurement, Outcome
from jobs.sizing.units import MIB

NOISE_BYTES = MIB // 2
SLOPE_DOUBT = 0.1
RATIO_LEAST, RATIO_MOST = 0.1, 5.0


@dataclass(frozen=True, kw_only=True)
class Correction:
    """corrected rise = offset + ratio × estimated rise; a rise is a peak without the weights, in bytes."""

    offset_bytes: float = 0.0
    ratio: float = 1.0

    def of(self, rise_bytes: float) -> float:
        return self.offset_bytes + self.ratio * rise_bytes

    @classmethod
    def fit(cls, pairs: Sequence[tuple[float, float]], prior: "Correction") -> "Correction":
        """Least squares over (estimated rise, measured rise), its slope drawn to the prior's ratio.

        Readings scatter by about NOISE_BYTES, estimates are off by about SLOPE_DOUBT: points close together tell an
        offset alone, points far apart (against that noise) the slope too.
        """
        if not pairs:
            return prior
        middle = fmean(estimated for estimated, _ in pairs)
        height = fmean(measured for _, measured in pairs)
        along = sum((x - middle) ** 2 for x, _ in pairs)
        together = sum((x - middle) * (y - height) for x, y in pairs)
        pull = (NOISE_BYTES / SLOPE_DOUBT) ** 2
        ratio = min(RATIO_MOST, max(RATIO_LEAST, (together + pull * prior.ratio) / (along + pull)))
        return cls(offset_bytes=height - ratio * middle, ratio=ratio)


@dataclass(frozen=True, kw_only=True)
class Curve:
    """Predicted peaks by prompt: the estimate, corrected, and shifted so that it goes through what was seen.

    estimate: the sizing's (peak, weights) at a prompt; weights_bytes as loaded; seen: prompt -> measured peak;
    refused: prompts that ran out of memory, which need more than the capacity.
    """

    estimate: Callable[[int], tuple[int, int]]
    weights_bytes: int
    seen: dict[int, int]
    refused: tuple[int, ...] = ()
    capacity_bytes: int = 0
    borrowed: Correction = Correction()

    @classmethod
    def learned(
        cls,
        measurements: Sequence[Measurement],
        *,
        estimate: Callable[[int], tuple[int, int]],
        weights_bytes: int,
        capacity_bytes: int,
        borrowed: Correction,
    ) -> "Curve":
        """From one strategy's points. One whose measured peak lay beyond the capacity has a peak to learn from; one
        that was refused has none."""
        seen = {m.prompt: m.peak_bytes for m in measurements if m.peak_bytes and _is_whole(m, capacity_bytes)}
        ran_out = [m.prompt for m in measurements if m.outcome is Outcome.OUT_OF_MEMORY]
        return cls(
            estimate=estimate,
            weights_bytes=weights_bytes,
            seen=seen,
            refused=tuple(prompt for prompt in ran_out if prompt not in seen),
            capacity_bytes=capacity_bytes,
            borrowed=borrowed,
        )

    def peak_bytes(self, prompt: int) -> int:
        return round(self._fitted(prompt) + self._shift(prompt))

    @cached_property
    def correction(self) -> Correction:
        """Fitted to the strategy's own points; the baseline's where there are none yet."""
        return Correction.fit(
            [(self._estimated_rise(prompt), peak - self.weights_bytes) for prompt, peak in self.seen.items()],
            self.borrowed,
        )

    def _fitted(self, prompt: int) -> float:
        return self.weights_bytes + self.correction.of(self._estimated_rise(prompt))

    def _estimated_rise(self, prompt: int) -> int:
        peak, weights = self.estimate(prompt)
        return peak - weights

    def _shift(self, prompt: int) -> float:
        """What the fit misses, on the straight line between the known points on either side."""
        known = self._misses
        if not known:
            return 0.0
        low = max((point for point in known if point <= prompt), default=min(known))
        high = min((point for point in known if point >= prompt), default=max(known))
        if low == high:
            return known[low]
        return known[low] + (known[high] - known[low]) * (prompt - low) / (high - low)

    @cached_property
    def _misses(self) -> dict[int, float]:
        misses = {prompt: peak - self._fitted(prompt) for prompt, peak in self.seen.items()}
        for prompt in self.refused:
            misses[prompt] = max(0.0, self.capacity_bytes + 1 - self._fitted(prompt))
        return misses


def _is_whole(measurement: Measurement, capacity_bytes: int) -> bool:
    beyond = (measurement.peak_bytes or 0) > capacity_bytes
    return measurement.outcome is Outcome.OK or (measurement.outcome is Outcome.OUT_OF_MEMORY and beyond)
