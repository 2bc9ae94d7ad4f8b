"""What the form shows while it is filled in: the answer, the budgets, how far each strategy reaches, which device."""

from collections.abc import Iterable
from dataclasses import dataclass

from jobs.procedure.outlook import Outlook, PhaseBudget, outlook
from jobs.procedure.verdict import Bounds
from jobs.sizing.record import Phase
from jobs.sizing.refusal import Refusal
from jobs.sizing.units import gib
from jobs.web.plan import Missing, Plan
from jobs.web.presenters.bars import Bar, stacked
from jobs.web.presenters.devices import DeviceTable, device_table
from jobs.web.presenters.headline import Headline, headline
from jobs.web.presenters.outlook_notes import basis, doubled, limit_note, source_note, stored_note
from jobs.web.presenters.reaches import ReachRow, reach_rows

PHASES = {Phase.PREFILL: "reading the prompt", Phase.DECODE: "answering"}
PARTS = {
    "weights": "weights",
    "kv": "KV cache of the prompt",
    "kv-answer": "KV cache of the answer",
    "working": "working memory",
}


@dataclass(frozen=True, kw_only=True)
class BudgetLine:
    """One budget in each phase. sub: a word on it."""

    name: str
    label: str
    sizes: tuple[int, ...]
    sub: str = ""


@dataclass(frozen=True, kw_only=True)
class Panel:
    """basis: what the figures are of. largest_bytes: of the budgets; reach_bytes: of the strategies' peaks.

    again: some strategy is still being read: ask once more. weights_fit: there is room for some cache.
    """

    basis: str
    headline: Headline
    bars: tuple[Bar, ...]
    lines: tuple[BudgetLine, ...]
    totals: tuple[int, ...]
    largest_bytes: int
    capacity_bytes: int | None
    headroom_bytes: int
    reaches: tuple[ReachRow, ...]
    reach_bytes: int
    weights_fit: bool
    readable: bool
    sequences: int
    doubled: str
    stored: str
    limited: str
    source: str
    devices: DeviceTable
    again: bool
    state: str = "ready"


def shown(plan: Plan | Missing) -> Panel | Missing:
    if isinstance(plan, Missing):
        return plan
    try:
        return panel(plan)
    except Refusal:
        told = f"{plan.record.model} is not read in {plan.question.dtype} yet; its figures appear here."
        return Missing(state="reading", sentences=(told,))


def panel(plan: Plan) -> Panel:
    """Raises Refusal("not_inspected") where not even the normal cache was read in this precision yet."""
    found = outlook(plan.question, plan.record)
    bounds = Bounds.of(plan.question, plan.capacity_bytes) if plan.capacity_bytes else None
    rows = reach_rows(plan, bounds.budget_bytes) if bounds else ()
    totals = tuple(phase.total_bytes for phase in found.phases)
    return Panel(
        basis=basis(plan),
        headline=headline(plan, found, bounds, rows),
        bars=tuple(_bar(phase, found, bounds) for phase in found.phases),
        lines=tuple(_lines(found)),
        totals=totals,
        largest_bytes=max(totals),
        capacity_bytes=plan.capacity_bytes,
        headroom_bytes=bounds.headroom_bytes if bounds else 0,
        reaches=rows,
        reach_bytes=max((row.peak_bytes or 0 for row in rows), default=0),
        weights_fit=bounds is not None and found.phases[0].weights_bytes < bounds.budget_bytes,
        readable=plan.readable,
        sequences=plan.question.sequences,
        doubled=doubled(plan, found.doubling),
        stored=stored_note(plan, found),
        limited=limit_note(plan),
        source=source_note(plan.record),
        devices=device_table(plan),
        again=any(row.soon for row in rows),
    )


def _bar(phase: PhaseBudget, found: Outlook, bounds: Bounds | None) -> Bar:
    parts = {
        "weights": phase.weights_bytes,
        "kv": phase.kv_prompt_bytes,
        "kv-answer": phase.kv_answer_bytes,
        "working": phase.working_bytes,
    }
    return stacked(
        PHASES[phase.phase],
        parts,
        capacity_bytes=bounds.capacity_bytes if bounds else None,
        headroom_bytes=bounds.headroom_bytes if bounds else 0,
        whole_bytes=found.peak.total_bytes,
    )


def _lines(found: Outlook) -> Iterable[BudgetLine]:
    attributes = {"weights": "weights", "kv": "kv_prompt", "kv-answer": "kv_answer", "working": "working"}
    sizes = {name: tuple(getattr(phase, f"{attributes[name]}_bytes") for phase in found.phases) for name in attributes}
    reading, answering = sizes["kv"]
    packed = found.packed_weights_bytes
    subs = {
        "weights": "" if packed is None else f"unpacked; {gib(packed)} as stored",
        "kv": "windowed layers are cut to their window" if answering < reading else "",
    }
    for name, label in PARTS.items():
        yield BudgetLine(name=name, label=label, sizes=sizes[name], sub=subs.get(name, ""))
