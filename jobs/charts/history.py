"""A profile's limit and speed over its answered runs, in the order in which they were asked for."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import plotly.graph_objects as go

from jobs.charts.layout import axis, figure
from jobs.charts.levels import level
from jobs.charts.marks import marks_for, meta
from jobs.sizing.strategy import strategy_label

MOST_NAMED_CHARACTERS = 44
MOST_DATES = 5
ROOM_ABOVE = 1.12


@dataclass(frozen=True, kw_only=True)
class HistoryPoint:
    """An answered run. context: None where nothing fitted. changed: what differs from the answered run before it, each
    thing in a sentence."""

    run: int
    at: datetime
    context: int | None
    strategy: str
    tokens_per_s: float | None
    changed: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Adopted:
    context: int
    strategy: str


def limit_history_figure(points: Sequence[HistoryPoint], adopted: Adopted | None = None) -> dict[str, Any]:
    """Nothing that fitted is drawn at zero; adopted: the limit in force, as a line."""
    top = max([*(point.context or 0 for point in points), adopted.context if adopted else 0, 1])
    traces = [*_changes(points, top), *_traces(points, lambda point: point.context or 0, "tokens")]
    if adopted:
        name = f"adopted {adopted.context:,}"
        text = f"{name} tokens, {_label(adopted.strategy)}"
        traces.append(level(role="adopted", name=name, value=adopted.context, until=len(points) + 0.5, text=text))
    return _figure(points, traces, "max context, tokens", top, ",d")


def speed_history_figure(points: Sequence[HistoryPoint]) -> dict[str, Any]:
    """As measured at the limit; a run without a limit has none."""
    top = max([*(point.tokens_per_s or 0.0 for point in points), 0.001])
    traces = [*_changes(points, top), *_traces(points, lambda point: point.tokens_per_s, "tokens/s")]
    return _figure(points, traces, "answer speed at the limit, tokens/s", top, "~r")


def _figure(
    points: Sequence[HistoryPoint], traces: Sequence[go.Scatter], title: str, top: float, ticks: str
) -> dict[str, Any]:
    places = list(range(1, len(points) + 1))
    step = -(-len(points) // MOST_DATES) or 1
    shown = places[::-1][::step][::-1]
    texts = [f"{points[place - 1].at:%d %b}<br>run {points[place - 1].run}" for place in shown]
    x = axis("") | {"range": [0.5, len(points) + 0.5], "tickvals": shown, "ticktext": texts, "showgrid": False}
    y = axis(title) | {"range": [0, ROOM_ABOVE * top], "tickformat": ticks}
    return figure(traces, {"xaxis": x, "yaxis": y, "annotations": list(_names(points))})


def _traces(
    points: Sequence[HistoryPoint], value: Callable[[HistoryPoint], float | None], unit: str
) -> Iterator[go.Scatter]:
    """A line through all of them, and marks by strategy."""
    there = [(place, point) for place, point in enumerate(points, start=1) if value(point) is not None]
    yield go.Scatter(
        x=[place for place, _ in there],
        y=[value(point) for _, point in there],
        mode="lines",
        line={"width": 1.5},
        hoverinfo="skip",
        showlegend=False,
        meta=meta("course"),
    )
    marks = marks_for(list(dict.fromkeys(point.strategy for point in points)))
    for strategy, mark in marks.items():
        mine = [(place, point) for place, point in there if point.strategy == strategy]
        if not mine:
            continue
        yield go.Scatter(
            x=[place for place, _ in mine],
            y=[value(point) for _, point in mine],
            mode="markers",
            name=_label(strategy),
            marker={"color": mark.colour, "symbol": mark.symbol, "size": 10},
            text=[f"run {point.run}, {point.at:%d %b %Y}" for _, point in mine],
            hovertemplate=f"%{{text}}<br>%{{y:,.4~r}} {unit}, %{{fullData.name}}<extra></extra>",
            meta=meta("measured", strategy, mark.slot),
        )


def _changes(points: Sequence[HistoryPoint], top: float) -> Iterator[go.Scatter]:
    """A line before each run that something had changed for."""
    for place, point in enumerate(points, start=1):
        if point.changed:
            yield go.Scatter(
                x=[place - 0.5] * 2,
                y=[0, ROOM_ABOVE * top],
                mode="lines",
                line={"width": 1, "dash": "dot"},
                hovertemplate=f"before run {point.run}: {'<br>'.join(point.changed)}<extra></extra>",
                showlegend=False,
                meta=meta("change"),
            )


def _names(points: Sequence[HistoryPoint]) -> Iterator[dict[str, Any]]:
    """Upright beside its line: what changed first, and how much more."""
    for place, point in enumerate(points, start=1):
        if point.changed:
            yield {
                "x": place - 0.5,
                "y": 0,
                "yref": "paper",
                "yanchor": "bottom",
                "xanchor": "left",
                "textangle": -90,
                "showarrow": False,
                "text": _short(point.changed),
                "font": {"size": 11},
            }


def _short(changed: Sequence[str]) -> str:
    first = changed[0]
    if len(first) > MOST_NAMED_CHARACTERS:
        first = first[: MOST_NAMED_CHARACTERS - 1] + "…"
    return first if len(changed) == 1 else f"{first} and {len(changed) - 1} more"


def _label(strategy: str) -> str:
    return strategy_label(strategy) if strategy else "nothing fits"
