"""Runs side by side as CSV."""

from collections.abc import Sequence

from jobs.charts.aligned import Overlaid, aligned
from jobs.exports.table import Cell, csv_text

FIGURES = ("outcome", "peak_bytes", "decode_tokens_per_s", "ttft_s")


def compared_csv(runs: Sequence[Overlaid]) -> str:
    """A row each strategy and context, as the page has them; each run's figures under “run 12 peak_bytes” and so on."""
    header = ["strategy", "context", *(f"{run.name} {figure}" for run in runs for figure in FIGURES)]
    rows: list[list[Cell]] = [
        [row.strategy, row.context, *(getattr(cell, name, None) for cell in row.cells for name in FIGURES)]
        for row in aligned(runs)
    ]
    return csv_text(header, rows)
