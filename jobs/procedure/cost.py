"""What a change costs where it is not needed, and what it saves there."""

from typing import Any

from jobs.procedure.measurement import Measurement, Outcome


def cost(baseline: Measurement | None, change: Measurement | None) -> dict[str, Any] | None:
    """Change beside baseline at one context; ratios are change / baseline. None unless both really ran."""
    if baseline is None or change is None:
        return None
    if baseline.outcome is not Outcome.OK or change.outcome is not Outcome.OK:
        return None
    return {
        "context": change.context,
        "decode_ratio": _ratio(change.decode_tokens_per_s, baseline.decode_tokens_per_s),
        "ttft_ratio": _ratio(change.ttft_s, baseline.ttft_s),
        "kv_ratio": _ratio(change.kv_bytes, baseline.kv_bytes),
        "saved_bytes": _saved(baseline.peak_bytes, change.peak_bytes),
    }


def _ratio(change: float | None, baseline: float | None) -> float | None:
    return round(change / baseline, 4) if change is not None and baseline else None


def _saved(baseline: int | None, change: int | None) -> int | None:
    """Of the peak; negative where the change needs more."""
    return None if baseline is None or change is None else baseline - change
