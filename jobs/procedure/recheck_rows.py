"""The figures of two runs beside each other, each with the noise that it is held against."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Any

from jobs.procedure.measurement import Measurement
from jobs.procedure.noise import (
    Scatter,
    peak_noise_bytes,
    quality_noise_nats,
    speed_noise_part,
    speed_scatter,
    ttft_noise_part,
    ttft_scatter,
)
from jobs.procedure.quality import Quality


class Figure(StrEnum):
    CONTEXT = "context"  # tokens, None where nothing fits
    FITS = "fits"  # whether the whole workload does
    STRATEGY = "strategy"
    LIMITED_BY = "limited_by"
    PEAK = "peak"  # bytes
    SPEED = "speed"  # tokens/s of one sequence
    TTFT = "ttft"  # seconds
    QUALITY = "quality"  # mean KL in nats


@dataclass(frozen=True, kw_only=True)
class Row:
    """beyond: whether the difference is more than the noise, None where one of both says nothing.

    strategy and context: of a measured point; empty and None for what is of the whole answer. noise: in the figure's
    unit, None where there is none to speak of; because: of a speed or a time, why it is more than usual.
    """

    figure: Figure
    before: Any
    now: Any
    beyond: bool | None
    noise: float | None = None
    because: Scatter | None = None
    strategy: str = ""
    context: int | None = None


def point_rows(before: Measurement, now: Measurement, *, weights_bytes: int, on_cpu: bool) -> Iterator[Row]:
    """Of one strategy and context. weights_bytes: what of both peaks is weights."""
    at = partial(Row, strategy=before.strategy, context=before.context)
    if before.peak_bytes is not None and now.peak_bytes is not None:
        noise = peak_noise_bytes(before, now, weights_bytes=weights_bytes)
        beyond = abs(now.peak_bytes - before.peak_bytes) > noise
        yield at(figure=Figure.PEAK, before=before.peak_bytes, now=now.peak_bytes, beyond=beyond, noise=noise)
    speed_part, ttft_part = (part(before, now, on_cpu=on_cpu) for part in (speed_noise_part, ttft_noise_part))
    of_speed, of_ttft = (partial(at, because=why(before, now, on_cpu=on_cpu)) for why in (speed_scatter, ttft_scatter))
    yield from _pace(of_speed, Figure.SPEED, before.decode_tokens_per_s, now.decode_tokens_per_s, speed_part)
    yield from _pace(of_ttft, Figure.TTFT, before.ttft_s, now.ttft_s, ttft_part)


def _pace(
    at: Callable[..., Row], figure: Figure, before: float | None, now: float | None, part: float
) -> Iterator[Row]:
    if before and now:
        noise = part * min(before, now)
        yield at(figure=figure, before=before, now=now, beyond=abs(now - before) > noise, noise=noise)


def quality_rows(before: Quality | None, now: Quality | None) -> Iterator[Row]:
    """Of the same text at the same context alone."""
    if before is None or now is None or before.mean_kl is None or now.mean_kl is None:
        return
    if (before.context, before.text_sha256) != (now.context, now.text_sha256):
        return
    noise = quality_noise_nats(before, now)
    yield Row(
        figure=Figure.QUALITY,
        before=before.mean_kl,
        now=now.mean_kl,
        beyond=abs(now.mean_kl - before.mean_kl) > noise,
        noise=noise,
        strategy=before.strategy,
        context=before.context,
    )
