"""The small drawing on a shared answer's picture: peak memory against context, below what may be used of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from PIL import ImageDraw, ImageFont

from jobs.sizing.strategy import BASELINE
from jobs.sizing.units import bytes_text

ANSWER, NORMAL, BUDGET, AXIS, WORDS = "#1c5cc4", "#8794a5", "#a32a22", "#d5dbe3", "#657283"
WORDS_PX = 20
DOT_PX = 7
ROOM = 1.12

Point = tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class Scale:
    """From tokens and bytes to pixels; box is left, top, right, bottom."""

    box: tuple[int, int, int, int]
    longest: float
    low: float
    high: float

    def of(self, point: Point) -> Point:
        left, _, right, _ = self.box
        return left + (right - left) * point[0] / self.longest, self.y(point[1])

    def y(self, size_bytes: float) -> float:
        _, top, _, bottom = self.box
        return bottom - (bottom - top) * (size_bytes - self.low) / (self.high - self.low)


def draw_curve(draw: ImageDraw.ImageDraw, taken: Mapping[str, Any], box: tuple[int, int, int, int]) -> None:
    """Of the strategy that the answer is of, to its limit, and of the normal cache behind it; nothing where nothing was
    measured."""
    limit = taken["limit"]
    answer, normal = _up_to(limit["context"], _points(taken, limit["strategy"])), _points(taken, str(BASELINE))
    if limit["strategy"] == str(BASELINE):
        normal = []
    budget = _budget_bytes(taken["budgets"])
    if not budget or not (answer or normal):
        return
    scale = _scale(box, [*answer, *normal], budget, (taken["budgets"].get("weights") or {}).get("measured_bytes"))
    left, top, right, bottom = box
    words = ImageFont.load_default(WORDS_PX)
    draw.line((left, top, left, bottom, right, bottom), fill=AXIS, width=3)
    draw.text((right, bottom + 6), "context", font=words, fill=WORDS, anchor="ra")
    draw.line((left, scale.y(budget), right, scale.y(budget)), fill=BUDGET, width=3)
    name = f"capacity less headroom: {bytes_text(budget)}"
    draw.text((left, top - 12), name, font=words, fill=BUDGET, anchor="ls")
    for points, colour in ((normal, NORMAL), (answer, ANSWER)):
        _line(draw, [scale.of(point) for point in points], colour)
    if answer and answer[-1][0] == limit["context"]:
        _end(draw, scale.of(answer[-1]), f"{limit['context']:,}", bottom)


def _budget_bytes(budgets: Mapping[str, Any]) -> int:
    """Of the capacity, what is not kept free; 0 where it is not known."""
    return int(budgets["capacity_bytes"] or 0) - int(budgets.get("headroom_bytes") or 0)


def _up_to(context: int | None, points: Sequence[Point]) -> list[Point]:
    """What ran beyond a limit was held against it."""
    return [point for point in points if context is None or point[0] <= context]


def _scale(box: tuple[int, int, int, int], points: Sequence[Point], budget: int, weights: int | None) -> Scale:
    peaks = [peak for _, peak in points]
    low, most = min([*peaks, *([weights] if weights else [])]), max(budget, *peaks)
    longest = max(context for context, _ in points)
    return Scale(box=box, longest=longest, low=low, high=low + max(1.0, ROOM * (most - low)))


def _points(taken: Mapping[str, Any], strategy: str) -> list[Point]:
    return sorted(
        (row["context"], row["peak_bytes"])
        for row in taken["measurements"]
        if row["strategy"] == strategy and row["outcome"] == "ok" and row["peak_bytes"]
    )


def _end(draw: ImageDraw.ImageDraw, at: Point, name: str, bottom: int) -> None:
    """A line down to the axis, with the limit beside it."""
    x, y = at
    draw.line((x, y, x, bottom), fill=ANSWER, width=2)
    draw.text((x - 8, bottom - 8), name, font=ImageFont.load_default(WORDS_PX), fill=ANSWER, anchor="rs")


def _line(draw: ImageDraw.ImageDraw, points: Sequence[Point], colour: str) -> None:
    if len(points) > 1:
        draw.line([*points], fill=colour, width=5, joint="curve")
    for x, y in points:
        draw.ellipse((x - DOT_PX, y - DOT_PX, x + DOT_PX, y + DOT_PX), fill=colour)
