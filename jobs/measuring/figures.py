"""A point as a Measurement: the figures of the passes that went through, with how far they lie apart."""

from collections.abc import Sequence
from statistics import median, quantiles
from typing import Any

from jobs.measuring.outcomes import Failure
from jobs.measuring.point import Point
from jobs.measuring.prompts import fingerprint
from jobs.measuring.repeats import decode_spread, is_noisy, peak_spread_bytes, ttft_spread
from jobs.measuring.settings import recorded
from jobs.procedure.measurement import Ask, Measurement, Outcome


def measurement_of(point: Point, failure: Failure | None) -> Measurement:
    """Figures are kept even where the point as a whole does not fit."""
    return Measurement(
        **_asked(point.ask),
        outcome=failure.outcome if failure else Outcome.OK,
        error=failure.error if failure else None,
        settings=_settings(point),
        warm_s=point.warm_s or None,
        generate_s=point.generating.seconds,
        leaked_bytes=point.leaked_bytes,
        tainted=point.memory.tainted(),
        **(_bytes(point) | _times(point) if point.passes else _seen_before(point, failure)),
    )


def _seen_before(point: Point, failure: Failure | None) -> dict[str, Any]:
    """Of a point that its warm-up showed to be too large: the peak of its prompt, by which the curve learns."""
    peak_bytes = point.short_peak_bytes
    beyond = failure is not None and failure.outcome is Outcome.OUT_OF_MEMORY and not failure.restart
    return {"peak_bytes": peak_bytes} if beyond and peak_bytes and peak_bytes > point.ask.capacity_bytes else {}


def without_figures(ask: Ask, outcome: Outcome, code: str, message: str) -> Measurement:
    return Measurement(**_asked(ask), outcome=outcome, error={"code": code, "message": message})


def _asked(ask: Ask) -> dict[str, Any]:
    return {
        "strategy": str(ask.strategy),
        "context": ask.context_tokens,
        "prompt": ask.prompt_tokens,
        "answer": ask.answer_tokens,
        "sequences": ask.sequences,
        "stage": ask.stage,
    }


def _bytes(point: Point) -> dict[str, Any]:
    """Of the pass with the highest peak."""
    highest = max(point.passes, key=lambda one: one.peak_bytes)
    at_peak = highest.kv_at_peak_bytes
    return {
        "peak_bytes": highest.peak_bytes,
        "kv_bytes": highest.kv_bytes,
        "kv_prefill_bytes": highest.kv_prefill_bytes,
        "working_bytes": None if at_peak is None else highest.peak_bytes - point.loaded.weights_bytes - at_peak,
        "host_bytes": highest.host_bytes,
        "peak_spread_bytes": peak_spread_bytes(point.passes),
        **point.memory.figures(),
    }


def _times(point: Point) -> dict[str, Any]:
    """Medians over the passes; the times between two tokens are of all passes together."""
    passes = point.passes
    speed = _median([one.decode_tokens_per_s for one in passes])
    half, most = _percentiles([interval for one in passes for interval in one.intervals_s])
    return {
        "ttft_s": _median([one.ttft_s for one in passes]),
        "decode_tokens_per_s": speed,
        "all_tokens_per_s": speed and speed * point.ask.sequences,
        "inter_token_p50_s": half,
        "inter_token_p95_s": most,
        "total_s": _median([one.total_s for one in passes]),
        "repeats": len(passes),
        "spread": decode_spread(passes),
        "ttft_spread": ttft_spread(passes),
        "noisy": is_noisy(passes),
    }


def _median(values: Sequence[float | None]) -> float | None:
    found = [value for value in values if value is not None]
    return median(found) if found else None


def _percentiles(intervals_s: Sequence[float]) -> tuple[float | None, float | None]:
    """The 50th and the 95th; of one interval both are that one."""
    if len(intervals_s) < 2:
        return (intervals_s[0], intervals_s[0]) if intervals_s else (None, None)
    hundredths = quantiles(intervals_s, n=100, method="inclusive")
    return hundredths[49], hundredths[94]


def _settings(point: Point) -> dict[str, Any]:
    return recorded(
        point.config,
        attention=point.loaded.attention,
        dtype=point.loaded.dtype,
        prompt_tokens=point.ask.prompt_tokens,
        sequences=point.ask.sequences,
        seed=point.ask.seed,
        prompt_source=point.prompts.source,
        prompts_file_sha256=point.prompts.file_sha256,
        prompt_sha256=fingerprint(point.prompt_ids),
    )
