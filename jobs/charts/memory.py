"""Memory against context: what each strategy was measured to need, beside what was estimated and what there is."""

from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from jobs.charts.layout import axis, context_axis, figure
from jobs.charts.levels import level
from jobs.charts.marks import LIMIT_SYMBOL, Mark, marks_for, meta
from jobs.charts.points import EstimateRow, PointRow, estimate_rows, point_rows, strategies_of
from jobs.charts.strip import strip_axes, strip_traces
from jobs.charts.units import ByteUnit, unit_for
from jobs.sizing.units import bytes_text

FAR_ABOVE = 3  # a capacity more than so many times the highest peak would flatten the plot
ROOM = 1.12


def memory_figure(
    *,
    question: Mapping[str, Any],
    stages: Mapping[str, Any],
    measurements: Sequence[Mapping[str, Any]],
    estimates: Sequence[Mapping[str, Any]] | None = None,
) -> dict[str, Any]:
    """Works at any moment of a run. `estimates` are those of the budgets stage where not given."""
    budgets = stages.get("budgets") or {}
    points = point_rows(measurements)
    dashed = estimate_rows(budgets.get("estimates", []) if estimates is None else estimates)
    shown = [row for row in dashed if row.strategy in set(strategies_of(points)) | {"default"}]
    marks = marks_for(strategies_of([*points, *dashed]))
    peaks = [row.peak_bytes for row in points if row.ran and row.peak_bytes is not None]
    highest = max([*peaks, *(row.peak_bytes for row in shown)], default=0)
    capacity = budgets.get("capacity_bytes") or question.get("capacity_bytes")
    unit = unit_for([highest, *([capacity] if capacity else [])])
    contexts = [*(row.context for row in points), *(row.context for row in shown)]
    weights = (budgets.get("weights") or {}).get("measured_bytes") or 0
    far = capacity is not None and 0 < FAR_ABOVE * highest < capacity
    return figure(
        [
            *(_estimated(shown, strategy, marks[strategy], unit) for strategy in strategies_of(shown)),
            *(_measured(points, strategy, marks[strategy], unit) for strategy in strategies_of(points)),
            *_levels(budgets, capacity, unit, until=max(contexts, default=1), far=far),
            *_limit(stages, unit),
            *strip_traces(points, marks),
        ],
        {
            "xaxis": context_axis(contexts),
            **strip_axes(points, _memory_axis(unit, highest=highest, capacity=capacity, weights=weights, far=far)),
        }
        | _far_note(capacity, far=far),
    )


def _measured(points: Sequence[PointRow], strategy: str, mark: Mark, unit: ByteUnit) -> go.Scatter:
    rows = [row for row in points if row.strategy == strategy and row.ran and row.peak_bytes is not None]
    return go.Scatter(
        x=[row.context for row in rows],
        y=[unit.of(row.peak_bytes or 0) for row in rows],
        mode="lines+markers",
        name=_label(points, strategy),
        legendgroup=strategy,
        line={"color": mark.colour, "width": 2},
        marker={"color": mark.colour, "symbol": mark.symbol, "size": 9},
        hovertemplate=f"%{{fullData.name}}<br>%{{x:,d}} tokens<br>peak %{{y:,.2f}} {unit.name}<extra></extra>",
        meta=meta("measured", strategy, mark.slot),
    )


def _estimated(rows: Sequence[EstimateRow], strategy: str, mark: Mark, unit: ByteUnit) -> go.Scatter:
    mine = [row for row in rows if row.strategy == strategy]
    label = mine[0].label
    return go.Scatter(
        x=[row.context for row in mine],
        y=[unit.of(row.peak_bytes) for row in mine],
        mode="lines",
        name=f"{label}, estimated",
        legendgroup=strategy,
        showlegend=strategy == "default",
        opacity=0.7,
        line={"color": mark.colour, "dash": mark.dash, "width": 1.5},
        hovertemplate=f"{label}<br>%{{x:,d}} tokens<br>peak %{{y:,.2f}} {unit.name}, estimated<extra></extra>",
        meta=meta("estimated", strategy, mark.slot),
    )


def _levels(
    budgets: Mapping[str, Any], capacity: int | None, unit: ByteUnit, *, until: int, far: bool
) -> list[go.Scatter]:
    lines: list[tuple[str, str, int]] = []
    weights = (budgets.get("weights") or {}).get("measured_bytes")
    if weights:
        lines.append(("weights", "weights", weights))
    if capacity and not far:
        lines.append(("capacity", "capacity", capacity))
        if budgets.get("headroom_bytes"):
            lines.append(("budget", "capacity less headroom", capacity - budgets["headroom_bytes"]))
    return [
        level(role=role, name=name, value=unit.of(size), until=until, text=f"{name}: {bytes_text(size)}")
        for role, name, size in lines
    ]


def _limit(stages: Mapping[str, Any], unit: ByteUnit) -> list[go.Scatter]:
    limit = stages.get("limit") or {}
    best = limit.get("ran_at") or {}
    if not best.get("peak_bytes"):
        return []
    name = f"max context {limit['context']:,}"
    return [
        go.Scatter(
            x=[limit["context"]],
            y=[unit.of(best["peak_bytes"])],
            mode="markers",
            name=name,
            marker={"symbol": LIMIT_SYMBOL, "size": 18, "color": "#B00020", "line": {"width": 2.5}},
            hovertemplate=f"{name} tokens<br>{limit['label']}<extra></extra>",
            meta=meta("limit", limit["strategy"]),
        )
    ]


def _memory_axis(unit: ByteUnit, *, highest: int, capacity: int | None, weights: int, far: bool) -> dict[str, Any]:
    """From zero, or from a little below the weights where those would take most of the height."""
    top = highest if far or capacity is None else max(highest, capacity)
    floor = weights - (top - weights) / 10 if 2 * weights > top else 0
    rise = ROOM * (top - floor)
    return axis(f"peak memory, {unit.name}") | {"range": [unit.of(floor), unit.of(floor + rise)] if top else None}


def _far_note(capacity: int | None, *, far: bool) -> dict[str, Any]:
    if not far or capacity is None:
        return {}
    text = f"the capacity, {bytes_text(capacity)}, is far above this plot"
    return {
        "annotations": [
            {"text": text, "xref": "paper", "yref": "paper", "x": 1, "y": 1, "showarrow": False}
            | {"xanchor": "right", "yanchor": "bottom"}
        ]
    }


def _label(points: Sequence[PointRow], strategy: str) -> str:
    return next(row.label for row in points if row.strategy == strategy)
