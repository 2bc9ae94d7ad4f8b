"""Bars of memory: parts one after another over the headroom at the capacity's end, and what goes into it or beyond."""

from collections.abc import Mapping
from dataclasses import dataclass

BAR_WIDTH = 100
MIDDLE = 50


@dataclass(frozen=True, kw_only=True)
class Segment:
    """A part of a bar; x and width in percent of it."""

    name: str
    x: float
    width: float


@dataclass(frozen=True, kw_only=True)
class Bar:
    """headroom: drawn beneath the parts at its full width; budget_x, capacity_x: where it begins and ends, in percent.

    excess: what of the parts lies beyond the budget. into_headroom: more is needed than the budget; over: than the
    capacity. capacity_bytes: None where none is known.
    """

    label: str
    segments: tuple[Segment, ...]
    headroom: Segment
    excess: Segment
    budget_x: float
    capacity_x: float
    into_headroom: bool
    over: bool
    capacity_bytes: int | None

    @property
    def capacity_anchor(self) -> str:
        """On which side of its line the capacity is written, so that it stays within the bar."""
        return "end" if self.capacity_x > MIDDLE else "start"


def stacked(
    label: str, parts: Mapping[str, int], *, capacity_bytes: int | None, headroom_bytes: int, whole_bytes: int = 0
) -> Bar:
    """`parts`: bytes by name. whole_bytes: what the bar's width stands for at least, so that bars compare."""
    total_bytes = sum(parts.values())
    ends_bytes = total_bytes if capacity_bytes is None else capacity_bytes
    budget_bytes = ends_bytes - headroom_bytes
    percent = max(ends_bytes, total_bytes, whole_bytes, 1) / BAR_WIDTH
    segments, at = [], 0.0
    for name, size in parts.items():
        if size:
            segments.append(Segment(name=name, x=round(at, 2), width=round(size / percent, 2)))
        at += size / percent
    budget_x, capacity_x = budget_bytes / percent, ends_bytes / percent
    return Bar(
        label=label,
        segments=tuple(segments),
        headroom=Segment(name="headroom", x=round(budget_x, 2), width=round(capacity_x - budget_x, 2)),
        excess=Segment(name="excess", x=round(budget_x, 2), width=round(max(0.0, at - budget_x), 2)),
        budget_x=round(budget_x, 2),
        capacity_x=round(capacity_x, 2),
        into_headroom=capacity_bytes is not None and total_bytes > budget_bytes,
        over=capacity_bytes is not None and total_bytes > capacity_bytes,
        capacity_bytes=capacity_bytes,
    )
