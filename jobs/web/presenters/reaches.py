"""How far each strategy should reach, as rows: those offered and those typed."""

from dataclasses import dataclass

from jobs.models import Worker
from jobs.procedure.defaults import OFFERED
from jobs.procedure.reach import Ends, Reach, reach
from jobs.sizing.strategy import BASELINE, Strategy
from jobs.sizing.units import gib
from jobs.web.formats import strategy_series
from jobs.web.forms.choices import STRATEGIES
from jobs.web.plan import Plan

LISTED = tuple(Strategy.parse(name) for name, _, _ in STRATEGIES)
IMPOSSIBLE = "not possible for this model"


@dataclass(frozen=True, kw_only=True)
class ReachRow:
    """strategies: one, or several that cannot be taken for the same reason.

    why_not: in place of figures. soon: it is being read. bound, extra: what ends the context, and what it costs.
    """

    strategies: tuple[Strategy, ...]
    context_tokens: int | None = None
    bound: str = ""
    extra: str = ""
    peak_bytes: int | None = None
    fits: bool | None = None
    why_not: str = ""
    soon: bool = False

    @property
    def series(self) -> str:
        """Of one strategy; a group has no colour of its own."""
        return strategy_series(str(self.strategies[0])) if len(self.strategies) == 1 else ""

    @property
    def label(self) -> str:
        if len(self.strategies) > 1 and all(strategy.is_quantized for strategy in self.strategies):
            return f"quantized ({', '.join(dict.fromkeys(str(strategy.backend) for strategy in self.strategies))})"
        return "; ".join(strategy.label for strategy in self.strategies)


def reach_rows(plan: Plan, budget_bytes: int) -> tuple[ReachRow, ...]:
    """The normal cache first; what cannot be done for the same reason is one row."""
    rows: dict[str, ReachRow] = {}
    for strategy in dict.fromkeys((BASELINE, *LISTED, *plan.question.strategies)):
        row = _row(plan, strategy, budget_bytes)
        key = row.why_not if row.why_not and not row.soon else str(strategy)
        if key in rows:
            row = ReachRow(strategies=(*rows[key].strategies, strategy), why_not=row.why_not)
        rows[key] = row
    return tuple(rows.values())


def _row(plan: Plan, strategy: Strategy, budget_bytes: int) -> ReachRow:
    found = reach(plan.question, plan.record, strategy, budget_bytes)
    soon = found.ends is Ends.UNREAD and strategy in OFFERED
    return ReachRow(
        strategies=(strategy,),
        context_tokens=found.context_tokens,
        bound=_bound(found),
        extra=_extra(found),
        peak_bytes=found.peak_bytes,
        fits=found.fits,
        why_not=_why_not(plan, found, soon=soon),
        soon=soon,
    )


def _why_not(plan: Plan, found: Reach, *, soon: bool) -> str:
    if found.ends is Ends.REFUSED:
        reason = found.reason.rstrip(".")
        return reason if IMPOSSIBLE in reason else f"{IMPOSSIBLE}: {reason[:1].lower()}{reason[1:]}"
    elsewhere = _not_on(plan.worker, found.strategy)
    if elsewhere:
        return f"not on this device: {elsewhere}"
    if found.ends is Ends.UNREAD:
        return "not read yet" if soon else "not read yet: a run reads it"
    return ""


def _not_on(worker: Worker | None, strategy: Strategy) -> str:
    """The reason that the device's own process gave, once it was asked."""
    family = f"quantized:{strategy.backend}" if strategy.is_quantized else str(strategy.cache)
    families = [family, "chunked"] if strategy.chunk_tokens else [family]
    verdicts = [(worker.applicable if worker else {}).get(family, True) for family in families]
    return next((str(verdict) for verdict in verdicts if verdict is not True), "")


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
