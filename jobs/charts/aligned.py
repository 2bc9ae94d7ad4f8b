"""Several runs' measured points side by side: one row a strategy and context, a cell a run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jobs.charts.points import PointRow, point_rows, strategies_of

LETTERS = "ABCDEF"


@dataclass(frozen=True, kw_only=True)
class Overlaid:
    """A run among others. letter: what it is called there; name: “run 12”; shown: the strategies to draw and align;
    limit: (strategy, context), None where nothing fits.
    """

    letter: str
    name: str
    points: Sequence[PointRow]
    shown: Sequence[str]
    limit: tuple[str, int] | None
    capacity_bytes: int | None

    @property
    def slot(self) -> int:
        return LETTERS.index(self.letter)

    @property
    def drawn(self) -> list[PointRow]:
        return [point for point in self.points if point.strategy in self.shown]


@dataclass(frozen=True, kw_only=True)
class AlignedRow:
    """cells: in the order of the runs; None where that run measured nothing there."""

    strategy: str
    label: str
    context: int
    cells: tuple[PointRow | None, ...]


def overlaid(
    *,
    letter: str,
    name: str,
    stages: Mapping[str, Any],
    measurements: Sequence[Mapping[str, Any]],
    chosen: Sequence[str],
) -> Overlaid:
    """chosen: the strategies asked for; the run's own recommendation and the normal cache where none is."""
    limit = stages.get("limit") or {}
    own = ("default", *([limit["strategy"]] if limit.get("strategy") else []))
    context = limit.get("context")
    return Overlaid(
        letter=letter,
        name=name,
        points=point_rows(measurements),
        shown=tuple(chosen) or tuple(dict.fromkeys(own)),
        limit=None if context is None else (limit["strategy"], context),
        capacity_bytes=(stages.get("budgets") or {}).get("capacity_bytes"),
    )


def aligned(runs: Sequence[Overlaid]) -> list[AlignedRow]:
    """The baseline first, each strategy in rising order of context."""
    points = [point for run in runs for point in run.drawn]
    order = strategies_of(points)
    labels = {point.strategy: point.label for point in points}
    cells = {(run.letter, point.strategy, point.context): point for run in runs for point in run.drawn}
    places = sorted({(order.index(point.strategy), point.context) for point in points})
    return [
        AlignedRow(
            strategy=order[place],
            label=labels[order[place]],
            context=context,
            cells=tuple(cells.get((run.letter, order[place], context)) for run in runs),
        )
        for place, context in places
    ]
