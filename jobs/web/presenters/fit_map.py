"""The map of what fits, as a figure, as the table beside it, and in a sentence."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from jobs.charts.fits import OUTCOMES, fits_figure
from jobs.charts.points import PointRow, point_rows
from jobs.procedure.fit_grid import FitGrid, GridCell, fit_grid
from jobs.procedure.what_if import Conditions, Finished, Fit
from jobs.sizing.strategy import Strategy
from jobs.sizing.units import bytes_text
from jobs.web.formats import number, size
from jobs.web.presenters.what_if import FITS

SHORT = {Fit.YES: "fits", Fit.UNSURE: "close", Fit.NO: "no", Fit.BEYOND: "beyond"}
NAMES = FITS | {Fit.BEYOND: "beyond the model’s maximum"}
TONES = {Fit.YES: "good", Fit.UNSURE: "warn", Fit.NO: "bad", Fit.BEYOND: "quiet"}


@dataclass(frozen=True, kw_only=True)
class MapCell:
    word: str
    tone: str
    peak: str


@dataclass(frozen=True, kw_only=True)
class MapRow:
    sequences: int
    cells: tuple[MapCell, ...]


@dataclass(frozen=True, kw_only=True)
class MeasuredPoint:
    context: int
    outcome: str
    peak: str


@dataclass(frozen=True, kw_only=True)
class FitMap:
    """measured: of the same strategy, at the run's own number of sequences (own_sequences)."""

    label: str
    contexts: tuple[int, ...]
    rows: tuple[MapRow, ...]
    measured: tuple[MeasuredPoint, ...]
    own_sequences: int
    words: tuple[tuple[str, str], ...]
    summary: str
    figure: dict[str, Any]


def fit_map(finished: Finished, strategy: Strategy, conditions: Conditions) -> FitMap:
    grid = fit_grid(finished, strategy, conditions.budget_bytes)
    points = _points(finished, strategy)
    asked = (conditions.prompt_tokens + finished.question.answer_tokens, conditions.sequences)
    return FitMap(
        label=strategy.label,
        contexts=grid.contexts,
        rows=tuple(_row(count, cells) for count, cells in zip(grid.sequences, grid.rows, strict=True)),
        measured=tuple(_measured(point) for point in points),
        own_sequences=finished.question.sequences,
        words=tuple((SHORT[fit], name) for fit, name in NAMES.items()),
        summary=_summary(grid, conditions),
        figure=fits_figure(grid, points, names=NAMES, asked=asked),
    )


def _points(finished: Finished, strategy: Strategy) -> list[PointRow]:
    made = (measurement.as_json() for measurement in finished.measurements if measurement.strategy == str(strategy))
    return [point for point in point_rows(made) if point.outcome in OUTCOMES]


def _row(sequences: int, cells: Iterable[GridCell]) -> MapRow:
    return MapRow(
        sequences=sequences,
        cells=tuple(
            MapCell(word=SHORT[cell.fit], tone=TONES[cell.fit], peak=bytes_text(cell.peak_bytes)) for cell in cells
        ),
    )


def _measured(point: PointRow) -> MeasuredPoint:
    outcome = OUTCOMES[point.outcome].removeprefix("measured: ")
    return MeasuredPoint(context=point.context, outcome=outcome, peak=size(point.peak_bytes))


def _summary(grid: FitGrid, conditions: Conditions) -> str:
    """What a screen reader says when a slider was moved."""
    cells = [cell for row in grid.rows for cell in row]
    fitting = sum(cell.fit is Fit.YES for cell in cells)
    within = f"{bytes_text(conditions.budget_bytes)} of {bytes_text(conditions.capacity_bytes)}"
    return (
        f"With {grid.strategy.label} in {within}, {number(fitting)} of the map’s {number(len(cells))} cells should fit."
    )
