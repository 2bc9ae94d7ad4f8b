"""Estimate beside measurement for each budget, and the bars that show them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jobs.charts.points import BudgetRow as PeakRow
from jobs.charts.points import budget_rows
from jobs.web.presenters.bars import Bar, stacked

CARD_PARTS = ("weights", "kv", "context", "peak", "reserved", "device_used")
PARTS = {"weights": "weights", "kv": "KV cache", "working": "working memory"}


@dataclass(frozen=True, kw_only=True)
class BudgetRow:
    """error: (estimate − measurement) / measurement."""

    label: str
    estimated_bytes: int | None
    measured_bytes: int | None
    error: float | None


@dataclass(frozen=True, kw_only=True)
class CardRow:
    """One GPU's bytes in the short real run; context: the CUDA context's. None where it was not told."""

    name: str
    weights: int | None
    kv: int | None
    context: int | None
    peak: int | None
    reserved: int | None
    device_used: int | None


@dataclass(frozen=True, kw_only=True)
class Budgets:
    """context_bytes: what the CUDA contexts take, which is part of the working memory; None on a CPU."""

    rows: tuple[BudgetRow, ...]
    bars: tuple[Bar, ...]
    at_context: int
    capacity_bytes: int
    headroom_bytes: int
    context_bytes: int | None
    cards: tuple[CardRow, ...]

    @property
    def share_bytes(self) -> int:
        """Of the capacity, what each card may take, headroom included."""
        return self.capacity_bytes // max(1, len(self.cards))

    @property
    def largest_bytes(self) -> int:
        """What the unit of the table's figures is chosen by."""
        return max((size for row in self.rows for size in (row.estimated_bytes, row.measured_bytes) if size), default=0)


def budgets(result: Mapping[str, Any] | None) -> Budgets | None:
    """From the budgets stage; None before it finished."""
    if not result:
        return None
    rows = [_row(label, result[name]) for name, label in (PARTS | {"peak": "peak"}).items() if name in result]
    return Budgets(
        rows=tuple(rows),
        bars=tuple(_bar(row, result) for row in budget_rows({"budgets": result})),
        at_context=result["at_context"],
        capacity_bytes=result["capacity_bytes"],
        headroom_bytes=result["headroom_bytes"],
        context_bytes=result.get("context_bytes"),
        cards=tuple(_card(name, figures) for name, figures in result.get("by_device", {}).items()),
    )


def _card(name: str, figures: Mapping[str, Any]) -> CardRow:
    return CardRow(name=name, **{part: figures.get(f"{part}_bytes") for part in CARD_PARTS})


def _row(label: str, part: Mapping[str, Any]) -> BudgetRow:
    estimated, measured = part.get("estimated_bytes"), part.get("measured_bytes")
    error = (estimated - measured) / measured if estimated is not None and measured else None
    return BudgetRow(label=label, estimated_bytes=estimated, measured_bytes=measured, error=error)


def _bar(row: PeakRow, result: Mapping[str, Any]) -> Bar:
    parts = {name: getattr(row, f"{name}_bytes") for name in PARTS}
    return stacked(row.label, parts, capacity_bytes=result["capacity_bytes"], headroom_bytes=result["headroom_bytes"])
