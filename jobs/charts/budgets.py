"""The three budgets as bars that add up to their peak, estimated and measured, against the capacity."""

from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from jobs.charts.layout import axis, figure
from jobs.charts.marks import COLOURS, LINE_COLOURS, meta
from jobs.charts.points import BudgetRow, budget_rows
from jobs.charts.units import ByteUnit, unit_for
from jobs.sizing.units import bytes_text

PARTS = (("weights", "weights", ""), ("kv", "KV cache", "/"), ("working", "working memory", "."))
FAR_ABOVE = 3


def budgets_figure(*, stages: Mapping[str, Any]) -> dict[str, Any]:
    """Empty axes before the first stage is done."""
    rows = budget_rows(stages)
    capacity = (stages.get("budgets") or {}).get("capacity_bytes") or 0
    highest = max((row.peak_bytes for row in rows), default=0)
    unit = unit_for([highest])
    traces = [_bar(rows, part, name, pattern, slot, unit) for slot, (part, name, pattern) in enumerate(PARTS)]
    return figure(
        traces,
        {
            "barmode": "stack",
            "xaxis": axis(f"memory at the peak, {unit.name}") | {"rangemode": "tozero"},
            "yaxis": axis("context, tokens") | {"autorange": "reversed", "type": "category"},
            "shapes": _capacity(capacity, unit) if 0 < capacity <= FAR_ABOVE * highest else [],
        },
    )


def _bar(rows: Sequence[BudgetRow], part: str, name: str, pattern: str, slot: int, unit: ByteUnit) -> go.Bar:
    sizes = [int(getattr(row, f"{part}_bytes")) for row in rows]
    return go.Bar(
        orientation="h",
        y=[row.label for row in rows],
        x=[unit.of(size) for size in sizes],
        name=name,
        marker={"color": COLOURS[slot], "pattern": {"shape": pattern}},
        customdata=[bytes_text(size) for size in sizes],
        hovertemplate=f"{name}<br>%{{y}} tokens<br>%{{customdata}}<extra></extra>",
        meta=meta(part, slot=slot),
    )


def _capacity(capacity: int, unit: ByteUnit) -> list[dict[str, Any]]:
    at = unit.of(capacity)
    return [
        {
            "type": "line",
            "name": "capacity",
            "x0": at,
            "x1": at,
            "yref": "paper",
            "y0": 0,
            "y1": 1,
            "line": {"color": LINE_COLOURS["capacity"], "width": 1.5},
            "label": {"text": "capacity", "textposition": "end", "font": {"color": LINE_COLOURS["capacity"]}},
        }
    ]
