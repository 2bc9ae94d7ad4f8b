"""What all figures share: transparent, untitled (the page has the words), with named axes and units."""

from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

CONTEXT_TITLE = "context (prompt + answer), tokens"
CLEAR = "rgba(0,0,0,0)"
LEFT_PX, RIGHT_PX, TOP_PX, BOTTOM_PX = 64, 16, 16, 56


def figure(traces: Sequence[go.Scatter], layout: Mapping[str, Any]) -> dict[str, Any]:
    """A plotly figure as plain data, without a template."""
    drawn = go.Figure(data=list(traces), layout={**_shared(), **layout})
    drawn.layout.template = None
    data: dict[str, Any] = drawn.to_plotly_json()
    data["layout"].pop("template", None)
    return data


def plain_figure(traces: Sequence[Mapping[str, Any]], layout: Mapping[str, Any]) -> dict[str, Any]:
    """The same of traces that are plain data already, unchecked: for what is drawn while a slider moves."""
    return {"data": list(traces), "layout": {**_shared(), **layout}}


def context_axis(contexts: Sequence[int]) -> dict[str, Any]:
    return axis(CONTEXT_TITLE) | {"range": [0, 1.06 * max(contexts, default=1)], "tickformat": ",d"}


def axis(title: str) -> dict[str, Any]:
    return {"title": {"text": title}, "automargin": True, "zeroline": False, "showgrid": True}


def _shared() -> dict[str, Any]:
    return {
        "paper_bgcolor": CLEAR,
        "plot_bgcolor": CLEAR,
        "margin": {"l": LEFT_PX, "r": RIGHT_PX, "t": TOP_PX, "b": BOTTOM_PX},
        "hovermode": "closest",
        "showlegend": True,
        "legend": {"orientation": "h", "x": 0, "y": -0.2, "yanchor": "top"},
    }
