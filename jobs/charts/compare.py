"""Runs drawn over each other: a colour and a letter for each run, a dash and a mark for each strategy."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import plotly.graph_objects as go

from jobs.charts.aligned import Overlaid
from jobs.charts.layout import axis, context_axis, figure
from jobs.charts.levels import level
from jobs.charts.marks import COLOURS, DASHES, LIMIT_SYMBOL, SYMBOLS, meta
from jobs.charts.points import PointRow, strategies_of
from jobs.charts.units import unit_for
from jobs.sizing.units import bytes_text

BESIDE = "\u00a0\u00a0"  # clear of the ring of a max context
Height = Callable[[PointRow], float | None]


def compared_memory_figure(runs: Sequence[Overlaid]) -> dict[str, Any]:
    """Peaks as measured, each run's max context ringed, and the capacity where all had the same."""
    points = [point for run in runs for point in run.drawn]
    peaks = [point.peak_bytes for point in points if point.ran and point.peak_bytes is not None]
    capacities = {run.capacity_bytes for run in runs}
    capacity = next(iter(capacities)) if len(capacities) == 1 else None
    shown = capacity if capacity and capacity <= 3 * max(peaks, default=0) else None
    unit = unit_for([*peaks, *([shown] if shown else [])])

    def height(row: PointRow) -> float | None:
        return None if row.peak_bytes is None else unit.of(row.peak_bytes)

    contexts = [point.context for point in points]
    lines = [*_lines(runs, height, unit.name, "peak memory"), *_limits(runs, height)]
    if shown:
        until, text = max(contexts, default=1), f"capacity of all: {bytes_text(shown)}"
        lines.append(level(role="capacity", name="capacity of all", value=unit.of(shown), until=until, text=text))
    return figure(lines, {"xaxis": context_axis(contexts), "yaxis": axis(f"peak memory, {unit.name}")})


def compared_speed_figure(runs: Sequence[Overlaid]) -> dict[str, Any]:
    """Of one sequence."""
    contexts = [point.context for run in runs for point in run.drawn]
    lines = list(_lines(runs, lambda row: row.decode_tokens_per_s, "tokens/s", "answer speed"))
    layout = {"xaxis": context_axis(contexts), "yaxis": axis("answer speed, tokens/s") | {"rangemode": "tozero"}}
    return figure(lines, layout)


def _lines(runs: Sequence[Overlaid], height: Height, unit: str, what: str) -> Iterator[go.Scatter]:
    order = strategies_of([point for run in runs for point in run.points])
    for run in runs:
        for strategy in strategies_of(run.drawn):
            rows = [row for row in run.drawn if row.strategy == strategy and row.ran and height(row) is not None]
            if rows:
                yield _line(run, rows, order.index(strategy), height, f"{what} %{{y:,.2f}} {unit}, measured")


def _line(run: Overlaid, rows: Sequence[PointRow], place: int, height: Height, told: str) -> go.Scatter:
    """place: of the strategy among all; the first, the normal cache, is drawn without gaps."""
    return go.Scatter(
        x=[row.context for row in rows],
        y=[height(row) for row in rows],
        mode="lines+markers+text",
        name=f"{run.letter} {rows[0].label}",
        text=[*[""] * (len(rows) - 1), f"{BESIDE}{run.letter}"],  # told apart without colour too
        textposition="middle right",
        cliponaxis=False,
        line={"color": COLOURS[run.slot], "dash": DASHES[(place - 1) % len(DASHES)] if place else "solid", "width": 2},
        marker={"color": COLOURS[run.slot], "symbol": SYMBOLS[place % len(SYMBOLS)], "size": 8},
        hovertemplate=f"{run.letter}, {run.name}<br>{rows[0].label}<br>%{{x:,d}} tokens<br>{told}<extra></extra>",
        meta=meta("measured", rows[0].strategy, place) | _colour(run),
    )


def _limits(runs: Sequence[Overlaid], height: Height) -> Iterator[go.Scatter]:
    for run in runs:
        for row in run.drawn:
            if (row.strategy, row.context) == run.limit and height(row) is not None:
                yield go.Scatter(
                    x=[row.context],
                    y=[height(row)],
                    mode="markers",
                    name=f"{run.letter} max context",
                    showlegend=False,
                    marker={"symbol": LIMIT_SYMBOL, "size": 18, "color": COLOURS[run.slot], "line": {"width": 2.5}},
                    hovertemplate=f"{run.letter}, {run.name}<br>max context %{{x:,d}} tokens<extra></extra>",
                    meta=meta("limit", row.strategy) | _colour(run),
                )


def _colour(run: Overlaid) -> dict[str, str]:
    """The page's own, by name."""
    return {"token": f"--run-{run.slot + 1}"}
