"""How often a point is measured, and how far its repeats lie apart."""

from collections.abc import Iterable, Sequence
from statistics import median

from jobs.measuring.generating import Pass
from jobs.procedure.curve import NOISE_BYTES
from jobs.procedure.measurement import Ask

SMALL_SPREAD = 0.05  # of speeds and of the time to the first token
SMALL_PEAK_SPREAD = 0.01
# A short pass is the noisiest and the cheapest to repeat: it gets a second where the question allows one.
SHORT_S = 1.0
CLOSE_PASSES = 3


def enough(passes: Sequence[Pass], ask: Ask) -> bool:
    """Whether no further pass is made: the repeats agree, or the most were made; one pass is enough unless short.

    A point that a reading's scatter could push over a bound is measured CLOSE_PASSES times, whatever the most is: its
    highest peak and median speed decide, so that luck does not.
    """
    if len(passes) < max(1, ask.least_repeats):
        return False
    if len(passes) < CLOSE_PASSES and is_close(passes, ask):
        return False
    if len(passes) >= ask.most_repeats:
        return True
    return passes[0].total_s > SHORT_S if len(passes) == 1 else agree(passes)


def is_close(passes: Sequence[Pass], ask: Ask) -> bool:
    """Whether what was seen lies within a reading's scatter of what decides about the point."""
    peak_bytes = max(one.peak_bytes for one in passes)
    speeds = [one.decode_tokens_per_s for one in passes if one.decode_tokens_per_s is not None]
    return (
        (ask.budget_bytes is not None and abs(peak_bytes - ask.budget_bytes) <= NOISE_BYTES)
        or _is_near(median(speeds) if speeds else None, ask.min_decode_tokens_per_s)
        or _is_near(median(one.ttft_s for one in passes), ask.max_ttft_s)
    )


def _is_near(value: float | None, bound: float | None) -> bool:
    return value is not None and bound is not None and abs(value / bound - 1) <= SMALL_SPREAD


def is_noisy(passes: Sequence[Pass]) -> bool:
    """Whether the most repeats were made and still lie apart."""
    return len(passes) > 1 and not agree(passes)


def agree(passes: Sequence[Pass]) -> bool:
    speeds, firsts, peaks = decode_spread(passes), ttft_spread(passes), spread(one.peak_bytes for one in passes)
    times = all(one is None or one <= SMALL_SPREAD for one in (speeds, firsts))
    return times and (peaks is None or peaks <= SMALL_PEAK_SPREAD)


def decode_spread(passes: Sequence[Pass]) -> float | None:
    return spread(one.decode_tokens_per_s for one in passes)


def ttft_spread(passes: Sequence[Pass]) -> float | None:
    return spread(one.ttft_s for one in passes)


def peak_spread_bytes(passes: Sequence[Pass]) -> int | None:
    peaks = [one.peak_bytes for one in passes]
    return max(peaks) - min(peaks) if len(peaks) > 1 else None


def spread(values: Iterable[float | None]) -> float | None:
    """(max − min) / median; None for fewer than two."""
    found = [value for value in values if value is not None]
    return (max(found) - min(found)) / median(found) if len(found) > 1 else None
