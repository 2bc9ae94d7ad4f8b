"""How far two readings of the same thing may lie apart and mean nothing.

Limits: one step of the search (docs/measured.md: the same profile three times over found the same limit each time).
Peaks: two readings' scatter of 1 MiB each, or 1.5 % of what is not weights, which is how closely an estimate is
held to them; or as far as the repeats of either lay apart. Speeds and times to the first token: 10 %, twice what the
repeats of a point may differ by until it is enough of them, or the repeats' own spread; 20 % where either was measured
by a single pass, whose scatter nobody saw; on a CPU twice or half, for its cores are shared with whatever else runs.
Qualities: as far as their 95 % intervals reach into one another.
"""

from enum import StrEnum

from jobs.procedure.contexts import step_after
from jobs.procedure.curve import NOISE_BYTES
from jobs.procedure.measurement import Measurement
from jobs.procedure.quality import Quality

PEAK_LEAST_BYTES = 4 * NOISE_BYTES
PEAK_PART = 0.015
PACE_PART = 0.1
SINGLE_PASS_PART = 0.2
CPU_PART = 1.0


class Scatter(StrEnum):
    """Why two speeds or times may lie further apart than PACE_PART and mean nothing."""

    BUSY = "busy"  # a CPU's cores are shared
    ONCE = "once"  # a single pass
    REPEATS = "repeats"  # those of either lay as far apart


def limit_noise_tokens(before: int, now: int) -> int:
    return step_after(min(before, now))


def peak_noise_bytes(before: Measurement, now: Measurement, *, weights_bytes: int) -> int:
    rise = max(before.peak_bytes or 0, now.peak_bytes or 0) - weights_bytes
    return max(PEAK_LEAST_BYTES, round(PEAK_PART * rise), before.peak_spread_bytes or 0, now.peak_spread_bytes or 0)


def speed_noise_part(before: Measurement, now: Measurement, *, on_cpu: bool) -> float:
    """Of the slower reading."""
    return _pace_part(before.repeats, now.repeats, before.spread, now.spread, on_cpu=on_cpu)


def ttft_noise_part(before: Measurement, now: Measurement, *, on_cpu: bool) -> float:
    """Of the shorter reading."""
    return _pace_part(before.repeats, now.repeats, before.ttft_spread, now.ttft_spread, on_cpu=on_cpu)


def speed_scatter(before: Measurement, now: Measurement, *, on_cpu: bool) -> Scatter | None:
    """Why speed_noise_part is what it is; None for PACE_PART."""
    return _scatter(before.repeats, now.repeats, before.spread, now.spread, on_cpu=on_cpu)


def ttft_scatter(before: Measurement, now: Measurement, *, on_cpu: bool) -> Scatter | None:
    """Why ttft_noise_part is what it is; None for PACE_PART."""
    return _scatter(before.repeats, now.repeats, before.ttft_spread, now.ttft_spread, on_cpu=on_cpu)


def quality_noise_nats(before: Quality, now: Quality) -> float:
    """Of the mean KL; 0 where there is no interval."""
    low, high = sorted((before, now), key=lambda quality: quality.mean_kl or 0.0)
    above = (low.kl_high or low.mean_kl or 0.0) - (low.mean_kl or 0.0)
    below = (high.mean_kl or 0.0) - (high.kl_low or high.mean_kl or 0.0)
    return above + below


def _pace_part(before: int, now: int, *spreads: float | None, on_cpu: bool) -> float:
    return max(_least_part(before, now, on_cpu=on_cpu), *(spread or 0.0 for spread in spreads))


def _least_part(before: int, now: int, *, on_cpu: bool) -> float:
    return CPU_PART if on_cpu else SINGLE_PASS_PART if min(before, now) < 2 else PACE_PART


def _scatter(before: int, now: int, *spreads: float | None, on_cpu: bool) -> Scatter | None:
    least = _least_part(before, now, on_cpu=on_cpu)
    if max(spread or 0.0 for spread in spreads) > least:
        return Scatter.REPEATS
    return {CPU_PART: Scatter.BUSY, SINGLE_PASS_PART: Scatter.ONCE}.get(least)
