"""What if, as rows: everything predicted, with its error band, and nothing measured among it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jobs.models import Run
from jobs.procedure.quality_text import quality_at
from jobs.procedure.reach import Ends
from jobs.procedure.what_if import Conditions, Finished, Fit, Predicted
from jobs.sizing.units import MIB, bytes_text
from jobs.web.formats import number, strategy_series

FITS = {
    Fit.YES: "should fit",
    Fit.NO: "should not fit",
    Fit.UNSURE: "too close to call",
    Fit.BEYOND: "more than the model’s own maximum",
}
TONES = {Fit.YES: "good", Fit.NO: "bad", Fit.UNSURE: "", Fit.BEYOND: "bad"}
ENDS = {
    Ends.MEMORY: "",
    Ends.NATIVE_CONTEXT: "the model’s own maximum",
    Ends.QUESTION: "as far as can be asked",
    Ends.NOTHING: "not even a short prompt fits",
}


@dataclass(frozen=True, kw_only=True)
class WhatIfRow:
    """quality: where this run found it above the bound, which no amount of memory changes."""

    label: str
    series: str
    peak: str
    band: str
    fit: str
    tone: str
    longest: str
    ends: str
    cpu_ram: str
    quality: str


@dataclass(frozen=True, kw_only=True)
class WhatIf:
    """context_tokens: prompt and answer as asked; budget_bytes: the capacity without its headroom."""

    context_tokens: int
    sequences: int
    capacity_bytes: int
    budget_bytes: int
    rows: tuple[WhatIfRow, ...]


def what_if(finished: Finished, conditions: Conditions, run: Run) -> WhatIf:
    """run: for what it found out beside the memory."""
    stages, max_kl = run.stages, run.question.get("max_kl")
    return WhatIf(
        context_tokens=conditions.prompt_tokens + finished.question.answer_tokens,
        sequences=conditions.sequences,
        capacity_bytes=conditions.capacity_bytes,
        budget_bytes=conditions.budget_bytes,
        rows=tuple(_row(found, _quality(found, stages, max_kl)) for found in finished.what_if(conditions)),
    )


def _quality(found: Predicted, stages: Mapping[str, Any], max_kl: float | None) -> str:
    quality = quality_at(stages, str(found.strategy))
    above = quality is not None and quality.is_above(max_kl)
    return f"in memory, but above the quality bound of {max_kl:g}" if above else ""


def _row(found: Predicted, quality: str) -> WhatIfRow:
    return WhatIfRow(
        label=found.strategy.label,
        series=strategy_series(str(found.strategy)),
        peak=_whole_mib(found.peak_bytes),
        band=f"± {_whole_mib(found.band_bytes)}",
        fit=FITS[found.fit],
        tone=TONES[found.fit],
        longest=_longest(found),
        ends=ENDS[found.ends],
        quality=quality,
        cpu_ram=bytes_text(found.host_bytes) if found.strategy.is_offloaded else "",
    )


def _whole_mib(size_bytes: int) -> str:
    """No finer than a prediction is."""
    return bytes_text(max(1, round(size_bytes / MIB)) * MIB)


def _longest(found: Predicted) -> str:
    """“24,100”, or “23,400 to 24,100” where the band leaves both possible."""
    if found.likely_context is None:
        return "none"
    if found.sure_context is None:
        return f"none to {number(found.likely_context)}"
    if found.sure_context == found.likely_context:
        return number(found.likely_context)
    return f"{number(found.sure_context)} to {number(found.likely_context)}"
