"""How far each strategy went, as a shared answer's table has it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jobs.procedure.quality_text import kl_text
from jobs.sizing.strategy import strategy_label
from jobs.web.formats import strategy_series
from jobs.web.presenters.limits import LIMITED_BY


@dataclass(frozen=True, kw_only=True)
class StrategyRow:
    """quality: the mean KL to the normal cache, empty where it was not measured."""

    label: str
    series: str
    is_limit: bool
    context: int | None
    failed_at: int | None
    limited_by: str
    confirmed: bool
    peak_bytes: int | None
    tokens_per_s: float | None
    quality: str


def strategy_rows(limit: Mapping[str, Any]) -> list[StrategyRow]:
    return [_row(row, recommended=row["strategy"] == limit["strategy"]) for row in limit["by_strategy"]]


def _row(row: Mapping[str, Any], *, recommended: bool) -> StrategyRow:
    return StrategyRow(
        label=strategy_label(row["strategy"]),
        series=strategy_series(row["strategy"]),
        is_limit=recommended and row["context"] is not None,
        context=row["context"],
        failed_at=row["first_failing_context"],
        limited_by=LIMITED_BY.get(row["limited_by"], ""),
        confirmed=row["confirmed"],
        peak_bytes=row["peak_bytes"],
        tokens_per_s=row["decode_tokens_per_s"],
        quality="" if row["mean_kl"] is None else kl_text(row["mean_kl"]),
    )
