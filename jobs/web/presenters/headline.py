"""The estimate's short answer: how much context, whether this workload fits, and the bytes behind it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from jobs.asking.question import shorter
from jobs.procedure.outlook import Outlook
from jobs.procedure.reach import reach
from jobs.procedure.verdict import Bounds
from jobs.procedure.words import with_strategy
from jobs.sizing.strategy import Strategy
from jobs.sizing.units import column_text
from jobs.web.formats import number, tokens
from jobs.web.plan import Plan
from jobs.web.presenters.reaches import ReachRow

COMBINATION = Strategy.parse("quantized:hqq:4+chunked:512")


@dataclass(frozen=True, kw_only=True)
class Headline:
    """answer: the longest context, with `detail` on it; workload: whether this one fits, in `tone` (good, warn, bad).

    needs: its bytes, in a sentence.
    """

    answer: str
    workload: str
    tone: str
    detail: str = ""
    needs: str = ""


def headline(plan: Plan, found: Outlook, bounds: Bounds | None, rows: Sequence[ReachRow]) -> Headline:
    weights = found.phases[0].weights_bytes
    if not plan.readable:
        return Headline(answer=_longest(rows), workload=_too_long(plan), tone="bad", needs=_needs(plan, found, bounds))
    if bounds is None:
        needed = column_text(found.peak.total_bytes, found.peak.total_bytes)
        return Headline(
            answer=f"Needs {needed}",
            workload="Give a capacity, or connect a device, to see how much context fits.",
            tone="",
        )
    if weights >= bounds.budget_bytes:
        return _without_room(plan, weights, bounds)
    workload, tone = _workload(plan, rows, bounds.budget_bytes)
    return Headline(
        answer=_longest(rows),
        detail=_detail(plan, rows),
        workload=workload,
        tone=tone,
        needs=_needs(plan, found, bounds),
    )


def _without_room(plan: Plan, weights: int, bounds: Bounds) -> Headline:
    taken, capacity = (column_text(size, weights) for size in (weights, bounds.capacity_bytes))
    if weights >= bounds.capacity_bytes:
        return Headline(
            answer="No context: the weights alone do not fit",
            workload=f"A run is not possible here: the weights alone take {taken}; the capacity is {capacity}.",
            tone="bad",
        )
    return Headline(
        answer=f"No context: the weights leave less than the {plan.question.headroom_percent:g} % to keep free",
        workload=f"The weights take {taken} of {capacity}: no strategy changes that.",
        tone="bad",
    )


def _longest(rows: Sequence[ReachRow]) -> str:
    if not rows:
        return ""
    return f"Longest context: {rows[0].context} tokens" if rows[0].context_tokens else "No short prompt fits"


def _detail(plan: Plan, rows: Sequence[ReachRow]) -> str:
    """What it holds for, and the strategy to be tried that reaches furthest."""
    each = f", of each of {plan.question.sequences}" if plan.question.sequences > 1 else ""
    ticked = [row for row in rows[1:] if row.ticked and not row.why_not and row.context_tokens]
    best = max(ticked, key=lambda row: row.context_tokens or 0, default=None)
    told = f"{with_strategy(rows[0].strategies[0])}{each}"
    if best is None or (best.context_tokens or 0) <= (rows[0].context_tokens or 0):
        return told
    return f"{told}; {best.context} {with_strategy(best.strategies[0])}"


def _too_long(plan: Plan) -> str:
    native, asked = plan.record.native_context or 0, plan.question
    told = f"The model reads at most {tokens(native)}; {number(asked.context_tokens)} are asked."
    return f"{told} {shorter(native, asked.answer_tokens)}"


def _workload(plan: Plan, rows: Sequence[ReachRow], budget_bytes: int) -> tuple[str, str]:
    asked = plan.question
    times = f"{asked.sequences} × " if asked.sequences > 1 else ""
    this = f"This workload ({times}{tokens(asked.context_tokens)})"
    if rows[0].should_fit:
        return f"{this} should fit with the normal cache.", "good"
    told = f"{this} should not fit with the normal cache"
    changed = rows[1:]
    if fitting := [row for row in changed if row.ticked and row.should_fit]:
        return f"{told}; it should {_with(fitting, changed)}.", "warn"
    if fitting := [row for row in changed if row.should_fit]:
        return f"{told}; of what is not ticked, it should {_with(fitting, changed)}.", "warn"
    if any(row.soon for row in changed):
        return f"{told}; other strategies are still being read.", "bad"
    return f"{told}, nor with any other on its own.{_combined(plan, budget_bytes)}", "bad"


def _combined(plan: Plan, budget_bytes: int) -> str:
    """A combination that should do where no strategy alone does; it is not tried unless it is asked for."""
    found = reach(plan.question, plan.record, COMBINATION, budget_bytes)
    if not found.fits:
        return ""
    return f" Together two should: write {COMBINATION} under “More strategies”."


def _with(fitting: Sequence[ReachRow], every: Iterable[ReachRow]) -> str:
    """“with quantized 8 or 4 bits or chunked prefill (512)”; backends are named where they differ in it."""
    strategies = [row.strategies[0] for row in fitting]
    failing = [row.strategies[0].bits for row in every if row.ticked and row not in fitting]
    quantized = [strategy for strategy in strategies if strategy.bits and not strategy.chunk_tokens]
    if quantized and not any(strategy.bits in failing for strategy in quantized):
        bits = _or([str(bits) for bits in sorted({strategy.bits or 0 for strategy in quantized}, reverse=True)])
        names = [f"quantized {bits} bits", *_labels(strategy for strategy in strategies if strategy not in quantized)]
    else:
        names = _labels(strategies)
    return f"with {_or(names)}"


def _labels(strategies: Iterable[Strategy]) -> list[str]:
    return [strategy.label for strategy in strategies]


def _or(names: Sequence[str]) -> str:
    return " or ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _needs(plan: Plan, found: Outlook, bounds: Bounds | None) -> str:
    total = found.peak.total_bytes
    if bounds is None:
        return f"Needs {column_text(total, total)} with the normal cache."
    largest = max(total, bounds.capacity_bytes)
    needed, budget, capacity = (
        column_text(size, largest) for size in (total, bounds.budget_bytes, bounds.capacity_bytes)
    )
    kept = f"{plan.question.headroom_percent:g} % kept free"
    return f"Needs {needed} with the normal cache; {budget} of {capacity} may be used ({kept})."
