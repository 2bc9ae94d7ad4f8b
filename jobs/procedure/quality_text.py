"""A quality in words."""

from collections.abc import Mapping, Sequence
from typing import Any

from jobs.procedure.quality import Quality

WHAT_KL_IS = (
    "Mean KL (Kullback-Leibler divergence) says how far the quantized cache's probabilities for the next token are "
    "from the normal cache's on the same text: 0 is no difference at all, and above about 1 the answers are another "
    "model's. In brackets is its 95 % interval; “same top token” is how often both caches find the same next token the "
    "likeliest."
)

LEAST_KL = 0.0001


def kl_text(kl: float) -> str:
    """Two digits or more that mean something, never a power of ten."""
    if kl < LEAST_KL:
        return f"below {LEAST_KL}" if kl > 0 else "0"
    return f"{kl:.{4 if kl < 0.01 else 3 if kl < 0.1 else 2}f}"


def figures_text(quality: Quality) -> str:
    """“0.07 (0.05 to 0.09) over 256 tokens; same top token 86 %”; its message where nothing was measured."""
    if quality.mean_kl is None:
        return f"not measured: {quality.message}"
    interval, same = interval_text(quality), same_text(quality)
    around = f" ({interval})" if interval else ""
    return f"{kl_text(quality.mean_kl)}{around} over {quality.scored_tokens:,} tokens{f'; {same}' if same else ''}"


def interval_text(quality: Quality) -> str:
    """“0.050 to 0.070”; empty where there is none."""
    if quality.kl_low is None or quality.kl_high is None:
        return ""
    return f"{kl_text(quality.kl_low)} to {kl_text(quality.kl_high)}"


def same_text(quality: Quality) -> str:
    return "" if quality.same_top is None else f"same top token {100 * quality.same_top:.0f} %"


def kept_text(quality: Quality, max_kl: float | None) -> str:
    """“within the bound of 0.2”; empty where there is no bound, or no figure."""
    if quality.mean_kl is None or max_kl is None:
        return ""
    return f"{'above' if quality.is_above(max_kl) else 'within'} the bound of {max_kl:g}"


def closest_text(quality: Quality, max_kl: float) -> str:
    """Why a strategy that fits otherwise does not, in a few words."""
    kl = "not measured" if quality.mean_kl is None else kl_text(quality.mean_kl)
    return f"its answers differ too much: mean KL {kl} (measured); the bound is {max_kl:g}"


def quality_at(stages: Mapping[str, Any], strategy: str) -> Quality | None:
    """What a finished run found out, or why it did not; None where it was not asked."""
    changes: Sequence[Mapping[str, Any]] = stages.get("changes") or ()
    found = next((change.get("quality") for change in changes if change["strategy"] == strategy), None)
    return Quality.from_json(found) if found else None


def provisional_text(stages: Mapping[str, Any]) -> str:
    """Why the quantized cache that is recommended is only provisional."""
    quality = quality_at(stages, str(stages["limit"]["strategy"]))
    why = f" ({quality.message})" if quality and quality.message else ""
    return f"Provisional: what the quantized cache costs in quality was not measured{why}."


def above_text(quality: Quality, max_kl: float) -> str:
    """Why a strategy is limited by quality, as the end of “at 1,056 tokens …”."""
    unsure = "; the interval holds the bound, so another text might decide otherwise" * quality.straddles(max_kl)
    return (
        f"its next tokens differ too much from the normal cache's: mean KL {figures_text(quality)}, scored at "
        f"{quality.context:,} tokens; the bound is {max_kl:g}{unsure}"
    )
