"""What fits, over sequences × context: predicted cells as areas, and the run's own measured points as marks on them."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from math import log2
from typing import Any

from jobs.charts.layout import CONTEXT_TITLE, axis, plain_figure
from jobs.charts.marks import meta
from jobs.charts.points import PointRow
from jobs.procedure.fit_grid import FitGrid, GridCell
from jobs.procedure.what_if import Fit
from jobs.sizing.units import bytes_text

COLOURS = {Fit.YES: "#BFE3CF", Fit.UNSURE: "#F2D98B", Fit.NO: "#E3A79F", Fit.BEYOND: "#B9C1CB"}
PATTERNS = {Fit.YES: "", Fit.UNSURE: "/", Fit.NO: "x", Fit.BEYOND: "."}  # told apart without colour too
SYMBOLS = {"ok": "circle", "out_of_memory": "x", "failed": "triangle-down"}
OUTCOMES = {"ok": "measured: ran", "out_of_memory": "measured: out of memory", "failed": "measured: failed"}
TICKS = 8
ASKED_SYMBOL = "diamond-open"


def fits_figure(
    grid: FitGrid, points: Sequence[PointRow], *, names: Mapping[Fit, str], asked: tuple[int, int]
) -> dict[str, Any]:
    """points: of the grid's strategy, as measured at the run's own number of sequences; names: a fit's, in the legend;
    asked: context and sequences. Contexts lie as far apart as their doublings.
    """
    return plain_figure(
        [*_areas(grid, names), *_asked(grid, *asked), *_points(grid, points)],
        {
            "barmode": "overlay",
            "bargap": 0,
            "xaxis": axis(CONTEXT_TITLE) | _context_ticks(grid) | {"showgrid": False, "fixedrange": True},
            "yaxis": axis("sequences at once")
            | {
                "tickvals": list(range(len(grid.sequences))),
                "ticktext": [f"{count:,}" for count in grid.sequences],
                "range": [-0.5, len(grid.sequences) - 0.5],
                "showgrid": False,
                "fixedrange": True,
            },
        },
    )


def _areas(grid: FitGrid, names: Mapping[Fit, str]) -> Iterator[dict[str, Any]]:
    """One trace a fit, also of those that no cell has, so that the legend stays as it is while a slider moves."""
    edges = _edges(grid)
    for fit, name in names.items():
        cells = [
            (row, column, cell)
            for row, line in enumerate(grid.rows)
            for column, cell in enumerate(line)
            if cell.fit is fit
        ]
        yield {
            "type": "bar",
            "x": [(edges[column] + edges[column + 1]) / 2 for _, column, _ in cells],
            "width": [edges[column + 1] - edges[column] for _, column, _ in cells],
            "base": [row - 0.5 for row, _, _ in cells],
            "y": [1] * len(cells),
            "name": f"predicted: {name}",
            "showlegend": True,
            "marker": {
                "color": COLOURS[fit],
                "line": {"width": 0},
                "pattern": {"shape": PATTERNS[fit], "fillmode": "overlay", "size": 7, "solidity": 0.12},
            },
            "customdata": [_told(cell) for _, _, cell in cells],
            "hovertemplate": f"%{{customdata}}<br>predicted: {name}<extra></extra>",
            "meta": meta("predicted", str(grid.strategy)) | {"token": f"--fit-{fit}"},
        }


def _told(cell: GridCell) -> str:
    several = "one sequence" if cell.sequences == 1 else f"{cell.sequences:,} sequences"
    peak, band = bytes_text(cell.peak_bytes), bytes_text(cell.band_bytes)
    return f"{cell.context:,} tokens, {several}<br>peak {peak} ± {band}"


def _points(grid: FitGrid, points: Sequence[PointRow]) -> Iterator[dict[str, Any]]:
    for outcome, symbol in SYMBOLS.items():
        rows = [row for row in points if row.outcome == outcome]
        if rows:
            yield {
                "type": "scatter",
                "x": [log2(row.context) for row in rows],
                "y": [grid.sequences.index(row.sequences) for row in rows],
                "mode": "markers",
                "name": OUTCOMES[outcome],
                "showlegend": True,
                "marker": {"symbol": symbol, "size": 9, "color": "#17202C", "line": {"width": 0}},
                "customdata": [_measured(row) for row in rows],
                "hovertemplate": "%{customdata}<extra></extra>",
                "meta": meta("point", str(grid.strategy)) | {"token": "--ink"},
            }


def _measured(row: PointRow) -> str:
    peak = "" if row.peak_bytes is None else f", peak {bytes_text(row.peak_bytes)}"
    return f"{row.context:,} tokens<br>{OUTCOMES[row.outcome]} under the run’s own capacity{peak}"


def _asked(grid: FitGrid, context: int, sequences: int) -> Iterator[dict[str, Any]]:
    """Where the conditions asked about lie, if they lie on the grid."""
    if sequences in grid.sequences and grid.contexts[0] <= context <= grid.contexts[-1]:
        yield {
            "type": "scatter",
            "x": [log2(context)],
            "y": [grid.sequences.index(sequences)],
            "mode": "markers",
            "name": "asked",
            "showlegend": True,
            "marker": {"symbol": ASKED_SYMBOL, "size": 16, "color": "#17202C", "line": {"width": 2}},
            "hovertemplate": f"asked: {context:,} tokens<extra></extra>",
            "meta": meta("asked") | {"token": "--ink"},
        }


def _edges(grid: FitGrid) -> list[float]:
    """Half way between two contexts, and as far beyond the ends."""
    at = [log2(context) for context in grid.contexts]
    if len(at) == 1:
        return [at[0] - 0.5, at[0] + 0.5]
    between = [(low + high) / 2 for low, high in pairwise(at)]
    return [2 * at[0] - between[0], *between, 2 * at[-1] - between[-1]]


def _context_ticks(grid: FitGrid) -> dict[str, Any]:
    edges, step = _edges(grid), -(-len(grid.contexts) // TICKS)
    shown = grid.contexts[::step]
    ticks = {"tickvals": [log2(context) for context in shown], "ticktext": [f"{context:,}" for context in shown]}
    return ticks | {"range": [edges[0], edges[-1]]}
