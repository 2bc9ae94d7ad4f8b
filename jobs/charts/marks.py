"""How a strategy looks: one colour, one symbol and one dash each, told apart without colour too.

The colours are Okabe and Ito's, safe for colour-blind readers on light and dark alike. A page that themes its plots
finds its own colour by a trace's meta: {"role", "strategy", "slot"}.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C6D31", "#7F7F7F")
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "triangle-down", "star", "hexagon", "pentagon")
DASHES = ("dash", "dot", "dashdot", "longdash", "longdashdot", "2px,6px", "8px,3px", "4px,2px")
LINE_COLOURS = {
    "capacity": "#B00020",
    "budget": "#B26A00",
    "weights": "#6E6E6E",
    "bound": "#B00020",
    "adopted": "#17683F",
}
LINE_DASHES = {"capacity": "solid", "budget": "dash", "weights": "dot", "bound": "dash", "adopted": "dash"}
LIMIT_SYMBOL = "circle-open"


@dataclass(frozen=True, kw_only=True)
class Mark:
    slot: int

    @property
    def colour(self) -> str:
        return COLOURS[self.slot % len(COLOURS)]

    @property
    def symbol(self) -> str:
        return SYMBOLS[self.slot % len(SYMBOLS)]

    @property
    def dash(self) -> str:
        return DASHES[self.slot % len(DASHES)]


def marks_for(strategies: Sequence[str]) -> dict[str, Mark]:
    """By place in the list, so that every plot of a run shows a strategy alike."""
    return {strategy: Mark(slot=slot) for slot, strategy in enumerate(strategies)}


def meta(role: str, strategy: str | None = None, slot: int | None = None) -> dict[str, Any]:
    return {"role": role, "strategy": strategy, "slot": slot}
