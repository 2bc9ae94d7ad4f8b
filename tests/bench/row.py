"""One benchmarked figure beside its target, and the register of who measures what."""

import statistics
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TextIO

AREAS = ("sizing", "peak", "limit", "cost", "web", "live", "soak", "scale")
Benchmark = Callable[[], Iterable["Row"]]
REGISTER: list[tuple[str, Benchmark]] = []


@dataclass(frozen=True, kw_only=True)
class Row:
    """`value` and `target` are in `unit`; `holds` says whether the value meets the target."""

    area: str
    name: str
    value: float
    unit: str
    target: float
    holds: bool


def benchmark(area: str) -> Callable[[Benchmark], Benchmark]:
    """Adds a function that yields rows of this area to what `make bench` runs."""
    if area not in AREAS:
        raise ValueError(area)

    def register(function: Benchmark) -> Benchmark:
        REGISTER.append((area, function))
        return function

    return register


def at_most(area: str, name: str, value: float, unit: str, target: float) -> Row:
    return Row(area=area, name=name, value=value, unit=unit, target=target, holds=value <= target)


def median_at_most(area: str, name: str, values: list[float], unit: str, target: float) -> Row:
    return at_most(area, f"{name} (median of {len(values)})", statistics.median(values), unit, target)


def worst_at_most(area: str, name: str, values: list[float], unit: str, target: float) -> Row:
    return at_most(area, f"{name} (worst of {len(values)})", max(values), unit, target)


def print_page(rows: Iterator[Row], out: TextIO) -> list[Row]:
    """Each row as it comes."""
    out.write(f"{'area':<8} {'what':<72} {'value':>12} {'target':>12}\n")
    kept = []
    for row in rows:
        kept.append(row)
        out.write(f"{row.area:<8} {row.name:<72} {row.value:>8.3g} {row.unit:<4}")
        out.write(f"{row.target:>8.3g} {row.unit:<4}{'' if row.holds else 'MISSED'}".rstrip() + "\n")
        out.flush()
    return kept
