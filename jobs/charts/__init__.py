"""Figures as plain data, for Plotly in the browser."""

from jobs.charts.compare import compared_memory_figure, compared_speed_figure
from jobs.charts.history import limit_history_figure, speed_history_figure
from jobs.charts.memory import memory_figure
from jobs.charts.speed import speed_figure, ttft_figure

__all__ = [
    "compared_memory_figure",
    "compared_speed_figure",
    "limit_history_figure",
    "memory_figure",
    "speed_figure",
    "speed_history_figure",
    "ttft_figure",
]
