"""Bars of memory: parts one after another, the headroom at the capacity's end, and what goes beyond it."""

from collections.abc import Mapping
from dataclasses import dataclass

BAR_WIDTH = 1000


@dataclass(frozen=True, kw_only=True)
class Segment:
    """A part of a bar; x and width in thousandths of it."""

    name: str
    x: float
    width: float


@dataclass(frozen=True, kw_only=True)
class Bar:
    """capacity_x: where the capacity ends, in thousandths; over: more is needed than that."""

    label: str
    segments: tuple[Segment, ...]
    capacity_x: float
    over: bool


def stacked(
    label: str, parts: Mapping[str, int], *, capacity_bytes: int, headroom_bytes: int, whole_bytes: int = 0
) -> Bar:
    """`parts`: bytes by name. whole_bytes: what the bar's width stands for at least, so that bars compare."""
    total_bytes = sum(parts.values())
    thousandth = max(capacity_bytes, total_bytes, whole_bytes, 1) / BAR_WIDTH
    segments, at = [], 0.0
    for name, size in parts.items():
        width = size / thousandth
        segments.append(Segment(name=name, x=round(at, 1), width=round(width, 1)))
        at += width
    end = capacity_bytes / thousandth
    start = max(at, (capacity_bytes - headroom_bytes) / thousandth)
    segments.append(Segment(name="headroom", x=round(start, 1), width=round(max(0.0, end - start), 1)))
    return Bar(label=label, segments=tuple(segments), capacity_x=round(end, 1), over=total_bytes > capacity_bytes)
