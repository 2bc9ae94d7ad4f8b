"""A run's figures as data for the page's script."""

from typing import Any

from jobs.charts import memory_figure, speed_figure, ttft_figure
from jobs.models import Run
from jobs.selectors.run import measurements_of


def run_figures(run: Run) -> dict[str, Any]:
    """By the name that the page gives its place: a Plotly figure each, as far as the run got."""
    measured = measurements_of(run)
    return {
        "memory": memory_figure(question=run.question, stages=run.stages, measurements=measured),
        "speed": speed_figure(question=run.question, measurements=measured),
        "ttft": ttft_figure(question=run.question, measurements=measured),
    }
