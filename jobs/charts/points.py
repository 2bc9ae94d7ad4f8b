"""The rows that plots, tables and downloads are all made from: nothing is drawn that is not in one of them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jobs.sizing.strategy import BASELINE, Strategy


@dataclass(frozen=True, kw_only=True)
class PointRow:
    """One measured point; figures are None where nothing was measured. `reason` is the error's sentence.

    fresh_process, tainted: why another process measured it, and what else used the device; None where nothing.
    """

    strategy: str
    label: str
    context: int
    prompt: int
    outcome: str
    stage: str
    peak_bytes: int | None
    kv_bytes: int | None
    kv_prefill_bytes: int | None
    working_bytes: int | None
    host_bytes: int | None
    ttft_s: float | None
    decode_tokens_per_s: float | None
    all_tokens_per_s: float | None
    inter_token_p50_s: float | None
    inter_token_p95_s: float | None
    total_s: float | None
    sequences: int
    repeats: int
    spread: float | None
    ttft_spread: float | None
    noisy: bool
    fresh_process: str | None
    tainted: str | None
    reason: str

    @property
    def ran(self) -> bool:
        return self.outcome == "ok"


@dataclass(frozen=True, kw_only=True)
class EstimateRow:
    strategy: str
    label: str
    context: int
    peak_bytes: int


@dataclass(frozen=True, kw_only=True)
class BudgetRow:
    """The three budgets at their common peak, so that they add up to it. `source` is "estimated" or "measured"."""

    label: str
    source: str
    context: int
    weights_bytes: int
    kv_bytes: int
    working_bytes: int

    @property
    def peak_bytes(self) -> int:
        return self.weights_bytes + self.kv_bytes + self.working_bytes


def point_rows(measurements: Iterable[Mapping[str, Any]]) -> list[PointRow]:
    """The baseline first, then the strategies as they came; each in rising order of context."""
    return [_point(measurement) for measurement in in_page_order(measurements)]


def in_page_order(measurements: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """As point_rows has them: what is taken away lies as the page shows it."""
    made = list(measurements)
    order = _baseline_first(measurement["strategy"] for measurement in made)
    return sorted(made, key=lambda measurement: (order.index(measurement["strategy"]), measurement["context"]))


def estimate_rows(estimates: Iterable[Mapping[str, Any]]) -> list[EstimateRow]:
    return [
        EstimateRow(
            strategy=row["strategy"],
            label=Strategy.parse(row["strategy"]).label,
            context=row["context"],
            peak_bytes=row["peak_bytes"],
        )
        for row in estimates
    ]


def budget_rows(stages: Mapping[str, Any]) -> list[BudgetRow]:
    """Estimated and measured at the short context, and estimated at the workload's longest."""
    budgets = stages.get("budgets")
    if not budgets:
        return []
    workload, at = budgets["workload"], budgets["at_context"]
    rows = [
        _at_peak(budgets, "estimated", f"estimated at {at:,}", at),
        _at_peak(budgets, "measured", f"measured at {at:,}", at),
        _budget(
            label=f"estimated at {workload['context']:,}",
            source="estimated",
            context=workload["context"],
            peak=workload["peak_bytes"],
            weights=workload["weights_bytes"],
            working=workload["working_bytes"],
        ),
    ]
    return [row for row in rows if row is not None]


def strategies_of(rows: Sequence[PointRow | EstimateRow]) -> list[str]:
    """In order of appearance, the baseline first."""
    return _baseline_first(row.strategy for row in rows)


def _baseline_first(names: Iterable[str]) -> list[str]:
    return sorted(dict.fromkeys(names), key=lambda name: name != str(BASELINE))


def _point(measurement: Mapping[str, Any]) -> PointRow:
    figures = {name: measurement.get(name) for name in PointRow.__dataclass_fields__ if name not in _TOLD}
    return PointRow(
        strategy=measurement["strategy"],
        label=Strategy.parse(measurement["strategy"]).label,
        context=measurement["context"],
        prompt=measurement["prompt"],
        outcome=measurement["outcome"],
        stage=measurement.get("stage", ""),
        sequences=measurement.get("sequences") or 1,
        repeats=measurement.get("repeats") or 0,
        noisy=bool(measurement.get("noisy")),
        reason=(measurement.get("error") or {}).get("message", ""),
        **figures,
    )


_TOLD = {"strategy", "label", "context", "prompt", "outcome", "stage", "sequences", "repeats", "noisy", "reason"}


def _at_peak(budgets: Mapping[str, Any], source: str, label: str, context: int) -> BudgetRow | None:
    peak, weights, working = (budgets[name][f"{source}_bytes"] for name in ("peak", "weights", "working"))
    return _budget(label=label, source=source, context=context, peak=peak, weights=weights, working=working)


def _budget(
    *, label: str, source: str, context: int, peak: int | None, weights: int | None, working: int | None
) -> BudgetRow | None:
    """None where one of them was not measured."""
    if peak is None or weights is None or working is None:
        return None
    return BudgetRow(
        label=label,
        source=source,
        context=context,
        weights_bytes=weights,
        kv_bytes=peak - weights - working,
        working_bytes=working,
    )
