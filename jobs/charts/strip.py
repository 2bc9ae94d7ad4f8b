"""A strip above the plot for points without a figure (out of memory, failed): they never get a height in bytes."""

from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from jobs.charts.marks import Mark, meta
from jobs.charts.points import PointRow, strategies_of

SYMBOLS = {"out_of_memory": "x", "failed": "triangle-down-open"}
WORDS = {"out_of_memory": "out of memory", "failed": "failed"}
ROW_SHARE, MOST_SHARE, GAP_SHARE = 0.045, 0.3, 0.03


def strip_traces(points: Sequence[PointRow], marks: Mapping[str, Mark]) -> list[go.Scatter]:
    """One row a strategy, on an axis of its own that measures nothing."""
    rows = _without_figure(points)
    names = strategies_of(rows)
    return [
        _trace([row for row in rows if row.strategy == name and row.outcome == outcome], names.index(name), marks[name])
        for name in names
        for outcome in SYMBOLS
        if any(row.strategy == name and row.outcome == outcome for row in rows)
    ]


def strip_axes(points: Sequence[PointRow], main: dict[str, Any]) -> dict[str, Any]:
    """The layout's vertical axes: the whole height for the plot where no strip is needed."""
    count = len(strategies_of(_without_figure(points)))
    if not count:
        return {"yaxis": main}
    share = min(MOST_SHARE, ROW_SHARE * (count + 1))
    strip = {
        "domain": [1 - share, 1],
        "range": [-0.8, count - 0.2],
        "tickvals": [(count - 1) / 2],
        "ticktext": [_name(points)],
        "automargin": True,
        "showgrid": False,
        "zeroline": False,
        "fixedrange": True,
    }
    return {"yaxis": main | {"domain": [0, 1 - share - GAP_SHARE]}, "yaxis2": strip}


def _name(points: Sequence[PointRow]) -> str:
    """What happened to all of them, where it was the same."""
    outcomes = {row.outcome for row in _without_figure(points)}
    return "out of<br>memory" if outcomes == {"out_of_memory"} else "did not<br>run"


def _without_figure(points: Sequence[PointRow]) -> list[PointRow]:
    return [row for row in points if row.outcome in SYMBOLS]


def _trace(rows: Sequence[PointRow], place: int, mark: Mark) -> go.Scatter:
    first = rows[0]
    return go.Scatter(
        x=[row.context for row in rows],
        y=[place] * len(rows),
        yaxis="y2",
        mode="markers",
        name=f"{first.label}: {WORDS[first.outcome]}",
        legendgroup=first.strategy,
        showlegend=False,
        marker={"color": mark.colour, "symbol": SYMBOLS[first.outcome], "size": 10},
        customdata=[row.reason for row in rows],
        hovertemplate=f"{first.label}<br>%{{x:,d}} tokens<br>{WORDS[first.outcome]}<br>%{{customdata}}<extra></extra>",
        meta=meta(first.outcome, first.strategy, mark.slot),
    )
