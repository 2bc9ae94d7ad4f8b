"""Lines across a plot: a capacity, a bound."""

import plotly.graph_objects as go

from jobs.charts.marks import LINE_COLOURS, LINE_DASHES, meta


def level(*, role: str, name: str, value: float, until: float, text: str) -> go.Scatter:
    """A horizontal line from 0 to `until`, labelled at its left end: a budget below the line, all else above."""
    return go.Scatter(
        x=[0, until],
        y=[value, value],
        mode="lines+text",
        name=name,
        text=[name, ""],
        textposition="bottom right" if role == "budget" else "top right",
        cliponaxis=False,
        line={"color": LINE_COLOURS[role], "dash": LINE_DASHES[role], "width": 1.5},
        textfont={"color": LINE_COLOURS[role], "size": 11},
        hovertemplate=f"{text}<extra></extra>",
        showlegend=False,
        meta=meta(role),
    )
