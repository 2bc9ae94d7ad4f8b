"""How far each strategy should reach, as rows: those ticked and typed, then the others that are offered."""

from dataclasses import dataclass

from jobs.asking.choices import STRATEGIES
from jobs.models import Worker
from jobs.procedure.defaults import OFFERED
from jobs.procedure.reach import Ends, Reach, reach
from jobs.sizing.record import InspectionRecord, LayerKind
from jobs.sizing.strategy import BASELINE, Strategy
from jobs.sizing.units import gib
from jobs.web.formats import about, number, strategy_series
from jobs.web.plan import Plan

LISTED = tuple(Strategy.parse(name) for name, _, _ in STRATEGIES)
IMPOSSIBLE = "not possible for this model"
OFFLOADED_FROM_CPU = "needs a GPU; here the cache is in CPU RAM already"


@dataclass(frozen=True, kw_only=True)
class ReachRow:
    """strategies: one, or several that cannot be taken for the same reason.

    why_not: in place of figures. soon: it is being read. bound, extra: what ends the context, and what it costs.
    readable: the question's own context is no longer than the model's maximum; without that nothing fits or does not.
    """

    strategies: tuple[Strategy, ...]
    ticked: bool
    context_tokens: int | None = None
    exact: bool = False
    bound: str = ""
    extra: str = ""
    peak_bytes: int | None = None
    fits: bool | None = None
    readable: bool = True
    why_not: str = ""
    soon: bool = False

    @property
    def series(self) -> str:
        """Of one strategy; a group has no colour of its own."""
        return strategy_series(str(self.strategies[0])) if len(self.strategies) == 1 else ""

    @property
    def label(self) -> str:
        if len(self.strategies) == 1:
            return self.strategies[0].label
        if all(strategy.is_quantized for strategy in self.strategies):
            return f"quantized ({', '.join(dict.fromkeys(str(strategy.backend) for strategy in self.strategies))})"
        if all(strategy.is_offloaded and not strategy.chunk_tokens for strategy in self.strategies):
            return "offloaded to CPU (both kinds)"
        return "; ".join(strategy.label for strategy in self.strategies)

    @property
    def context(self) -> str:
        """“about 24,200”; a maximum is exact."""
        return number(self.context_tokens) if self.exact else about(self.context_tokens)

    @property
    def should_fit(self) -> bool:
        return bool(self.fits) and self.readable and not self.why_not


def reach_rows(plan: Plan, budget_bytes: int) -> tuple[ReachRow, ...]:
    """The normal cache first; what cannot be done for the same reason is one row."""
    rows: dict[str, ReachRow] = {}
    for strategy in dict.fromkeys((BASELINE, *plan.question.strategies, *LISTED)):
        row = _row(plan, strategy, budget_bytes)
        key = row.why_not if row.why_not and not row.soon else str(strategy)
        if key in rows:
            first = rows[key]
            row = ReachRow(strategies=(*first.strategies, strategy), ticked=first.ticked, why_not=row.why_not)
        rows[key] = row
    return tuple(rows.values())


def _row(plan: Plan, strategy: Strategy, budget_bytes: int) -> ReachRow:
    found = reach(plan.question, plan.record, strategy, budget_bytes)
    soon = found.ends is Ends.UNREAD and strategy in OFFERED and not _not_on(plan.worker, strategy)
    return ReachRow(
        strategies=(strategy,),
        ticked=strategy == BASELINE or strategy in plan.question.strategies,
        context_tokens=found.context_tokens,
        exact=found.ends in (Ends.NATIVE_CONTEXT, Ends.QUESTION),
        bound=_bound(found),
        extra=_extra(found),
        peak_bytes=found.peak_bytes,
        fits=found.fits,
        readable=plan.readable,
        why_not=_why_not(plan, found, soon=soon),
        soon=soon,
    )


def _why_not(plan: Plan, found: Reach, *, soon: bool) -> str:
    if found.ends is Ends.REFUSED:
        return _impossible(plan.record, found)
    elsewhere = _not_on(plan.worker, found.strategy)
    if elsewhere:
        return elsewhere
    if found.ends is Ends.UNREAD:
        return "not read yet" if soon else "not read yet: a run reads it"
    return ""


def _impossible(record: InspectionRecord, found: Reach) -> str:
    windowed = any(group.kind is LayerKind.WINDOWED for group in record.layers)
    if found.strategy.is_quantized and windowed and "quantized" in record.refusals:
        return f"{IMPOSSIBLE}: windowed layers"
    reason = found.reason.rstrip(".")
    return reason if IMPOSSIBLE in reason else f"{IMPOSSIBLE}: {reason[:1].lower()}{reason[1:]}"


def _not_on(worker: Worker | None, strategy: Strategy) -> str:
    """The reason that the device's own process gives, once it was asked; of a CPU it is known before."""
    if worker and worker.kind == "cpu" and strategy.is_offloaded:
        return OFFLOADED_FROM_CPU
    family = f"quantized:{strategy.backend}" if strategy.is_quantized else str(strategy.cache)
    families = [family, "chunked"] if strategy.chunk_tokens else [family]
    verdicts = [(worker.applicable if worker else {}).get(family, True) for family in families]
    reason = next((str(verdict) for verdict in verdicts if verdict is not True), "")
    return f"not on this device: {reason}" if reason else ""


def _bound(found: Reach) -> str:
    if found.ends is Ends.NATIVE_CONTEXT:
        return "the model’s maximum"
    if found.ends is Ends.QUESTION:
        return "as far as can be asked"
    return "not even a short prompt fits" if found.ends is Ends.NOTHING else ""


def _extra(found: Reach) -> str:
    told = []
    if found.strategy.is_offloaded and found.host_bytes:
        told.append(f"with {gib(found.host_bytes)} of CPU RAM")
    if found.from_parts:
        told.append("put together from its two parts")
    return ", ".join(told)
