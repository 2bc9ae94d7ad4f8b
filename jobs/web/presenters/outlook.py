"""What the form shows while it is filled in: the budgets, how far each strategy reaches, twice the context."""

from collections.abc import Iterable
from dataclasses import dataclass

from jobs.procedure.outlook import Doubling, Outlook, PhaseBudget, outlook
from jobs.procedure.verdict import Bounds
from jobs.sizing.record import InspectionRecord, Phase, StoredWeights
from jobs.sizing.refusal import Refusal
from jobs.sizing.units import column_text, gib
from jobs.web.formats import number, tokens
from jobs.web.plan import Missing, Plan
from jobs.web.presenters.bars import Bar, stacked
from jobs.web.presenters.devices import DeviceTable, device_table
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
    """One budget in each phase."""

    name: str
    label: str
    sizes: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Panel:
    """verdict: one sentence; tone: good, bad or "". largest_bytes: what the unit of all figures is chosen by.

    again: some strategy is still being read: ask once more.
    """

    verdict: str
    tone: str
    longest: str
    bars: tuple[Bar, ...]
    lines: tuple[BudgetLine, ...]
    totals: tuple[int, ...]
    largest_bytes: int
    capacity_bytes: int | None
    headroom_bytes: int
    reaches: tuple[ReachRow, ...]
    doubled: str
    notes: tuple[str, ...]
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
    verdict, tone = _verdict(plan, found, bounds)
    return Panel(
        verdict=verdict,
        tone=tone,
        longest=_longest(rows),
        bars=tuple(_bar(phase, found, bounds) for phase in found.phases),
        lines=tuple(_lines(found.phases)),
        totals=tuple(phase.total_bytes for phase in found.phases),
        largest_bytes=_largest_bytes(found, bounds),
        capacity_bytes=plan.capacity_bytes,
        headroom_bytes=bounds.headroom_bytes if bounds else 0,
        reaches=rows,
        doubled=_doubled(plan, found.doubling),
        notes=tuple(_notes(plan, found)),
        devices=device_table(plan),
        again=any(row.soon for row in rows),
    )


def _verdict(plan: Plan, found: Outlook, bounds: Bounds | None) -> tuple[str, str]:
    context, native = plan.question.context_tokens, plan.record.native_context
    largest = _largest_bytes(found, bounds)
    needed = column_text(found.peak.total_bytes, largest)
    if native is not None and context > native:
        return f"Longer than the model reads: {tokens(context)} are asked, {tokens(native)} is its own maximum.", "bad"
    if bounds is None:
        return f"Needs {needed}. Give a capacity, or connect a device, to see whether that fits.", ""
    kept = f"{plan.question.headroom_percent:g} % kept free"
    budget, capacity = (column_text(size, largest) for size in (bounds.budget_bytes, bounds.capacity_bytes))
    room = f"{budget} of {capacity} may be used ({kept})"
    if found.fits(bounds):
        return f"Should fit with the normal cache: {needed} are needed, {room}.", "good"
    return f"Should not fit with the normal cache: {needed} are needed, {room}.", "bad"


def _largest_bytes(found: Outlook, bounds: Bounds | None) -> int:
    return max(found.peak.total_bytes, bounds.capacity_bytes if bounds else 0)


def _longest(rows: tuple[ReachRow, ...]) -> str:
    """For whoever listens instead of looking: the first row's own sentence."""
    if not rows or rows[0].context_tokens is None:
        return ""
    return f"Longest context with the normal cache: {tokens(rows[0].context_tokens)}."


def _bar(phase: PhaseBudget, found: Outlook, bounds: Bounds | None) -> Bar:
    parts = {
        "weights": phase.weights_bytes,
        "kv": phase.kv_prompt_bytes,
        "kv-answer": phase.kv_answer_bytes,
        "working": phase.working_bytes,
    }
    whole = found.peak.total_bytes
    return stacked(
        PHASES[phase.phase],
        parts,
        capacity_bytes=bounds.capacity_bytes if bounds else whole,
        headroom_bytes=bounds.headroom_bytes if bounds else 0,
        whole_bytes=whole,
    )


def _lines(phases: tuple[PhaseBudget, ...]) -> Iterable[BudgetLine]:
    attributes = {"weights": "weights", "kv": "kv_prompt", "kv-answer": "kv_answer", "working": "working"}
    for name, label in PARTS.items():
        sizes = tuple(getattr(phase, f"{attributes[name]}_bytes") for phase in phases)
        yield BudgetLine(name=name, label=label, sizes=sizes)


def _doubled(plan: Plan, doubling: Doubling) -> str:
    """“Twice the context, 8,704 tokens: KV cache ×2.0, …”: what doubles and what does not."""
    times = {"KV cache": doubling.kv, "working memory": doubling.working, "weights": 1.0, "total": doubling.total}
    told = ", ".join(f"{label} ×{value:.1f}" for label, value in times.items() if value is not None)
    twice = 2 * plan.question.context_tokens
    native = plan.record.native_context
    beyond = ", more than the model reads" if native is not None and twice > native else ""
    kinds = {
        "layers with a window hold no more than that": doubling.windowed,
        "state-space layers hold the same at any length": doubling.fixed,
    }
    why = " and ".join(kind for kind, there in kinds.items() if there)
    return f"Twice the context ({number(twice)} tokens{beyond}): {told}.{f' {why.capitalize()}.' if why else ''}"


def _notes(plan: Plan, found: Outlook) -> Iterable[str]:
    record, dtype = plan.record, plan.question.dtype
    if record.stored is not None:
        yield _stored(record, record.stored, dtype, found)
    yield (
        f"Estimated, not measured: read from the model’s own code with transformers "
        f"{record.versions.get('transformers', 'of an unknown version')}, in passes with a CPU’s kernels. "
        "Working memory on a GPU may differ."
    )


def _stored(record: InspectionRecord, stored: StoredWeights, dtype: str, found: Outlook) -> str:
    packed = f"packed as {stored.method}" + (f" ({stored.bits} bits)" if stored.bits else "")
    cache = f"The KV cache stays in {dtype} whatever the weights are packed in."
    if found.packed_weights_bytes is not None:
        why = "A run draws random weights" if record.random_weights else "On this device the weights are unpacked"
        return f"{why}, in {dtype}; {packed}, as stored, they would be {gib(found.packed_weights_bytes)}."
    if stored.bits is None:
        return f"The weights are {packed}; what they take on the device is not known to the byte. {cache}"
    if stored.dequantized:
        return f"The files are {packed}, but loading turns the weights into {dtype}: on the device nothing is saved."
    return f"The weights are {packed}. {cache}"
