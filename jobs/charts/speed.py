"""Speed against context: tokens a second while answering, and the time to the first token."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from jobs.charts.layout import axis, context_axis, figure
from jobs.charts.levels import level
from jobs.charts.marks import Mark, marks_for, meta
from jobs.charts.points import PointRow, point_rows, strategies_of

Figure = Callable[[PointRow], float | None]


def speed_figure(*, question: Mapping[str, Any], measurements: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Of one sequence, with the minimum asked for."""
    least = question.get("min_decode_tokens_per_s")
    return _figure(
        point_rows(measurements),
        lambda row: row.decode_tokens_per_s,
        title="answer speed, tokens/s",
        unit="tokens/s",
        bound=(f"minimum {least:g} tokens/s", least) if least else None,
    )


def ttft_figure(*, question: Mapping[str, Any], measurements: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    most = question.get("max_ttft_s")
    return _figure(
        point_rows(measurements),
        lambda row: row.ttft_s,
        title="time to first token, s",
        unit="s to the first token",
        bound=(f"maximum {most:g} s", most) if most else None,
    )


def _figure(
    points: Sequence[PointRow], value: Figure, *, title: str, unit: str, bound: tuple[str, float] | None
) -> dict[str, Any]:
    marks = marks_for(strategies_of(points))
    contexts = [row.context for row in points]
    traces = [_trace(points, strategy, marks[strategy], value, unit) for strategy in strategies_of(points)]
    if bound:
        name, height = bound
        traces.append(level(role="bound", name=name, value=height, until=max(contexts, default=1), text=name))
    return figure(traces, {"xaxis": context_axis(contexts), "yaxis": axis(title) | {"rangemode": "tozero"}})


def _trace(points: Sequence[PointRow], strategy: str, mark: Mark, value: Figure, unit: str) -> go.Scatter:
    rows = [row for row in points if row.strategy == strategy and row.ran and value(row) is not None]
    return go.Scatter(
        x=[row.context for row in rows],
        y=[value(row) for row in rows],
        mode="lines+markers",
        name=next(row.label for row in points if row.strategy == strategy),
        legendgroup=strategy,
        line={"color": mark.colour, "width": 2},
        marker={"color": mark.colour, "symbol": mark.symbol, "size": 9},
        hovertemplate=f"%{{fullData.name}}<br>%{{x:,d}} tokens<br>%{{y:,.2f}} {unit}, measured<extra></extra>",
        meta=meta("measured", strategy, mark.slot),
    )
