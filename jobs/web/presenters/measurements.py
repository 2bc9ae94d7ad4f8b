"""Measurements as rows of the tables beside the plots: the same rows that the plots are drawn from."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from jobs.charts.points import PointRow, point_rows
from jobs.web.formats import milliseconds, percent, strategy_series

OUTCOMES = {"ok": "ran", "out_of_memory": "out of memory", "failed": "failed", "skipped": "not run"}


@dataclass(frozen=True, kw_only=True)
class MeasurementRow:
    """repeats: how far they lie apart, in words. between_ms: half, and 95 %, of the tokens follow within so much.

    notes: why its process is a fresh one, what else used the device.
    """

    point: PointRow
    series: str
    outcome_label: str
    is_limit: bool
    repeats: str
    between_ms: str
    notes: list[str]


def measurement_rows(measured: Iterable[Mapping[str, Any]], stages: Mapping[str, Any]) -> list[MeasurementRow]:
    """Grouped by strategy, then by context; the limit's own row is marked."""
    limit, budgets = stages.get("limit"), stages.get("budgets")
    at = (limit["strategy"], limit["context"]) if limit and limit.get("context") else None
    return [
        MeasurementRow(
            point=point,
            series=strategy_series(point.strategy),
            outcome_label=_outcome(point, budgets),
            is_limit=(point.strategy, point.context) == at,
            repeats=_repeats(point),
            between_ms=_between_ms(point),
            notes=_notes(point),
        )
        for point in point_rows(measured)
    ]


def _repeats(point: PointRow) -> str:
    """“± 1.2 %” about the middle; “± 6.0 %, noisy” where they never came close; “” for one."""
    spreads = [spread for spread in (point.spread, point.ttft_spread) if spread is not None]
    if point.noisy and spreads:
        return f"± {percent(max(spreads) / 2)}, noisy"
    return "" if point.spread is None else f"± {percent(point.spread / 2)}"


def _between_ms(point: PointRow) -> str:
    """“81.0 / 250”; empty where it was not measured."""
    times = (point.inter_token_p50_s, point.inter_token_p95_s)
    return "" if None in times else " / ".join(milliseconds(time) for time in times)


def _notes(point: PointRow) -> list[str]:
    told = [("fresh process", point.fresh_process), ("disturbed", point.tainted)]
    return [f"{word}: {why}" for word, why in told if why]


def _outcome(point: PointRow, budgets: Mapping[str, Any] | None) -> str:
    """A run that ate into the headroom ran, and yet is no max context: its row says why."""
    budget = budgets["capacity_bytes"] - budgets["headroom_bytes"] if budgets else None
    if point.ran and budget is not None and (point.peak_bytes or 0) > budget:
        return "ran, into the headroom"
    return OUTCOMES.get(point.outcome, point.outcome)
