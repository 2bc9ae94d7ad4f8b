"""Estimate beside measurement for each budget, and the bars that show them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jobs.charts.points import BudgetRow as PeakRow
from jobs.charts.points import budget_rows
from jobs.web.presenters.bars import Bar, stacked

PARTS = {"weights": "weights", "kv": "KV cache", "working": "working memory"}


@dataclass(frozen=True, kw_only=True)
class BudgetRow:
    """error: (estimate − measurement) / measurement."""

    label: str
    estimated_bytes: int | None
    measured_bytes: int | None
    error: float | None


@dataclass(frozen=True, kw_only=True)
class Budgets:
    rows: tuple[BudgetRow, ...]
    bars: tuple[Bar, ...]
    at_context: int
    capacity_bytes: int
    headroom_bytes: int

    @property
    def largest_bytes(self) -> int:
        """What the unit of the table's figures is chosen by."""
        return max((size for row in self.rows for size in (row.estimated_bytes, row.measured_bytes) if size), default=0)


def budgets(result: Mapping[str, Any] | None) -> Budgets | None:
    """From the budgets stage; None before it finished."""
    if not result:
        return None
    rows = [_row(label, result[name]) for name, label in (PARTS | {"peak": "peak"}).items() if name in result]
    return Budgets(
        rows=tuple(rows),
        bars=tuple(_bar(row, result) for row in budget_rows({"budgets": result})),
        at_context=result["at_context"],
        capacity_bytes=result["capacity_bytes"],
        headroom_bytes=result["headroom_bytes"],
    )


def _row(label: str, part: Mapping[str, Any]) -> BudgetRow:
    estimated, measured = part.get("estimated_bytes"), part.get("measured_bytes")
    error = (estimated - measured) / measured if estimated is not None and measured else None
    return BudgetRow(label=label, estimated_bytes=estimated, measured_bytes=measured, error=error)


def _bar(row: PeakRow, result: Mapping[str, Any]) -> Bar:
    parts = {name: getattr(row, f"{name}_bytes") for name in PARTS}
    return stacked(row.label, parts, capacity_bytes=result["capacity_bytes"], headroom_bytes=result["headroom_bytes"])
