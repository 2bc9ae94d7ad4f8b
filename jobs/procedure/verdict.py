"""Whether a measurement is good enough, and if not, what stands in the way."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from jobs.procedure.measurement import Measurement, Outcome
from jobs.procedure.quality import Quality
from jobs.procedure.quality_text import above_text
from jobs.procedure.question import Question
from jobs.procedure.several_cards import fullest
from jobs.procedure.words import bytes_text, seconds_text, speed_text


class Limiter(StrEnum):
    MEMORY = "memory"
    SPEED = "speed"
    TTFT = "ttft"
    QUALITY = "quality"
    HOST_MEMORY = "host_memory"
    NATIVE_CONTEXT = "native_context"
    WORKLOAD = "workload"


def headroom_bytes(capacity_bytes: int, percent: float) -> int:
    """The part of the capacity that is kept free."""
    return round(capacity_bytes * percent / 100)


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """What an answer must respect. budget_bytes is the capacity without its headroom."""

    capacity_bytes: int
    headroom_bytes: int
    min_decode_tokens_per_s: float | None = None
    max_ttft_s: float | None = None
    host_capacity_bytes: int | None = None
    max_kl: float | None = None

    @property
    def budget_bytes(self) -> int:
        return self.capacity_bytes - self.headroom_bytes

    def share_bytes(self, cards: int) -> int:
        """Of the budget, what each of several cards may hold."""
        return self.budget_bytes // cards

    @classmethod
    def of(cls, question: Question, device_capacity_bytes: int) -> "Bounds":
        capacity = question.capacity_bytes or device_capacity_bytes
        return cls(
            capacity_bytes=capacity,
            headroom_bytes=headroom_bytes(capacity, question.headroom_percent),
            min_decode_tokens_per_s=question.min_decode_tokens_per_s,
            max_ttft_s=question.max_ttft_s,
            host_capacity_bytes=question.host_capacity_bytes,
            max_kl=question.max_kl,
        )


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """limiter is None where the point is acceptable, and where the strategy itself failed: no limit of memory."""

    acceptable: bool
    limiter: Limiter | None = None
    reason: str = ""


OUT_OF_HOST_MEMORY = "out_of_host_memory"  # the code of an error: the device's own memory had room
KILLED = "killed"  # the code of an error: others ended the process, which says nothing about what it measured
ACCEPTABLE = Verdict(acceptable=True)


def judge(measurement: Measurement, bounds: Bounds) -> Verdict | None:
    """None for a point that was never run: it says nothing."""
    if measurement.outcome is Outcome.SKIPPED:
        return None
    if measurement.outcome is Outcome.OUT_OF_MEMORY and (measurement.error or {}).get("code") == OUT_OF_HOST_MEMORY:
        return _limited(Limiter.HOST_MEMORY, "out of CPU RAM")
    if measurement.outcome is Outcome.OUT_OF_MEMORY:
        return _limited(Limiter.MEMORY, f"out of memory within {bytes_text(bounds.capacity_bytes)}")
    if measurement.outcome is Outcome.FAILED:
        return Verdict(
            acceptable=False, reason=f"it failed there, which says nothing about memory: {told(measurement)}"
        )
    return _memory(measurement, bounds) or _host(measurement, bounds) or _pace(measurement, bounds) or ACCEPTABLE


def with_quality(context: int, qualities: Sequence[Quality], max_kl: float | None) -> Verdict | None:
    """Of a point that is acceptable otherwise; None where it lies below a context above the bound and nothing says
    that it is within: then nothing is promised there.
    """
    above = [quality for quality in qualities if quality.is_above(max_kl)]
    if max_kl is None or not above:
        return ACCEPTABLE
    if any(quality.is_within(max_kl) and quality.context >= context for quality in qualities):
        return ACCEPTABLE
    shortest = min(above, key=lambda quality: quality.context)
    return _limited(Limiter.QUALITY, above_text(shortest, max_kl)) if context >= shortest.context else None


def was_killed(measurement: Measurement) -> bool:
    return measurement.outcome is Outcome.FAILED and (measurement.error or {}).get("code") == KILLED


def told(measurement: Measurement) -> str:
    """The error's own sentence."""
    return (measurement.error or {}).get("message", "no reason was given")


def _memory(measurement: Measurement, bounds: Bounds) -> Verdict | None:
    peak = measurement.peak_bytes
    if peak is None:
        return None
    card = fullest(measurement)
    if card is not None and card[1] > bounds.share_bytes(len(measurement.by_device or {})):
        share = bytes_text(bounds.share_bytes(len(measurement.by_device or {})))
        return _limited(
            Limiter.MEMORY, f"{card[0]} needs {bytes_text(card[1])} of the {share} that the headroom leaves each card"
        )
    if peak <= bounds.budget_bytes:
        return None
    return _limited(
        Limiter.MEMORY, f"it needs {bytes_text(peak)} of the {bytes_text(bounds.budget_bytes)} that the headroom leaves"
    )


def _host(measurement: Measurement, bounds: Bounds) -> Verdict | None:
    needed, most = measurement.host_bytes, bounds.host_capacity_bytes
    if needed is None or most is None or needed <= most:
        return None
    return _limited(Limiter.HOST_MEMORY, f"it needs {bytes_text(needed)} of the {bytes_text(most)} of CPU RAM")


def _pace(measurement: Measurement, bounds: Bounds) -> Verdict | None:
    ttft, most = measurement.ttft_s, bounds.max_ttft_s
    if ttft is not None and most is not None and ttft > most:
        return _limited(
            Limiter.TTFT, f"the first token comes after {seconds_text(ttft)}, more than {seconds_text(most)}"
        )
    speed, least = measurement.decode_tokens_per_s, bounds.min_decode_tokens_per_s
    if speed is not None and least is not None and speed < least:
        return _limited(Limiter.SPEED, f"it answers at {speed_text(speed)}, below {speed_text(least)}")
    return None


def _limited(limiter: Limiter, reason: str) -> Verdict:
    return Verdict(acceptable=False, limiter=limiter, reason=reason)
