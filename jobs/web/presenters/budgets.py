"""Estimate beside measurement for each budget, and the bars that show them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jobs.charts.points import BudgetRow as PeakRow
from jobs.charts.points import budget_rows

PARTS = {"weights": "weights", "kv": "KV cache", "working": "working memory"}
BAR_WIDTH = 1000


@dataclass(frozen=True, kw_only=True)
class BudgetRow:
    """error: (estimate − measurement) / measurement."""

    label: str
    estimated_bytes: int | None
    measured_bytes: int | None
    error: float | None


@dataclass(frozen=True, kw_only=True)
class Segment:
    """A part of a bar; x and width in thousandths of it."""

    name: str
    x: float
    width: float


@dataclass(frozen=True, kw_only=True)
class Bar:
    """capacity_x: where the capacity ends, in thousandths; over: more is needed than that."""

    label: str
    segments: tuple[Segment, ...]
    capacity_x: float
    over: bool


@dataclass(frozen=True, kw_only=True)
class Budgets:
    rows: tuple[BudgetRow, ...]
    bars: tuple[Bar, ...]
    at_context: int
    capacity_bytes: int
    headroom_bytes: int


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
    """The parts one after another, then the headroom at the capacity's end."""
    capacity_bytes, headroom_bytes = result["capacity_bytes"], result["headroom_bytes"]
    thousandth = max(capacity_bytes, row.peak_bytes, 1) / BAR_WIDTH
    segments, at = [], 0.0
    for name in PARTS:
        width = getattr(row, f"{name}_bytes") / thousandth
        segments.append(Segment(name=name, x=round(at, 1), width=round(width, 1)))
        at += width
    end = capacity_bytes / thousandth
    start = max(at, (capacity_bytes - headroom_bytes) / thousandth)
    segments.append(Segment(name="headroom", x=round(start, 1), width=round(max(0.0, end - start), 1)))
    over = row.peak_bytes > capacity_bytes
    return Bar(label=row.label, segments=tuple(segments), capacity_x=round(end, 1), over=over)
