"""“Which device do I need?”: real devices beside what the question would need of each."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from jobs.procedure.device_reach import DEVICE, DeviceReach, device_reaches, device_sequences, smallest_strategy
from jobs.procedure.question_check import MOST_SEQUENCES
from jobs.procedure.reach import Ends
from jobs.procedure.words import with_strategy
from jobs.sizing.devices import Device, devices
from jobs.sizing.stored import stays_packed
from jobs.sizing.strategy import BASELINE, Strategy
from jobs.sizing.units import gib
from jobs.web.formats import about, number
from jobs.web.plan import Plan


@dataclass(frozen=True, kw_only=True)
class DeviceContext:
    """With one strategy, as text; bound: what ends it. smallest: no smaller device fits the question with it."""

    text: str
    bound: str
    smallest: bool


@dataclass(frozen=True, kw_only=True)
class DeviceRow:
    """contexts: with the normal cache and, where there is one, with the smallest strategy tried.

    why_not: in place of all of them. sequences: as text. first: it is worth showing before all the others.
    """

    device: Device
    contexts: tuple[DeviceContext, ...]
    sequences: str
    why_not: str
    first: bool

    @property
    def smallest(self) -> bool:
        return any(context.smallest for context in self.contexts)

    @property
    def name(self) -> str:
        """Without its vendor's GB, which stand beneath."""
        return self.device.name.removesuffix(f", {self.device.vendor_gb} GB")


@dataclass(frozen=True, kw_only=True)
class DeviceTable:
    """summary: the smallest that fits, in a sentence. strategies: whose contexts the columns are. basis: of weights.

    readable: the question's own context is no longer than the model's maximum.
    """

    rows: tuple[DeviceRow, ...]
    summary: str
    strategies: tuple[Strategy, ...]
    sequences: int
    headroom_percent: float
    basis: str
    readable: bool

    @property
    def columns(self) -> int:
        """Those behind the device's."""
        return len(self.strategies) + int(self.readable)

    @property
    def first(self) -> tuple[DeviceRow, ...]:
        return tuple(row for row in self.rows if row.first)


def device_table(plan: Plan) -> DeviceTable:
    """For the model itself: weights as stored, though a run here may draw them. Raises Refusal("not_inspected")."""
    if plan.record.stored is not None and plan.record.random_weights:
        plan = replace(plan, record=replace(plan.record, random_weights=False))
    known = devices()
    sizes = [device.usable_bytes for device in known]
    tried = smallest_strategy(plan.question, plan.record, plan.question.strategies)
    strategies = (BASELINE, tried) if tried else (BASELINE,)
    found = [device_reaches(plan.question, plan.record, sizes, strategy) for strategy in strategies]
    counts = device_sequences(plan.question, plan.record, sizes)
    smallest = [_smallest(reaches) if plan.readable else None for reaches in found]
    first = _first(smallest, len(known))
    rows = tuple(
        DeviceRow(
            device=device,
            contexts=tuple(
                _context(reaches[place], smallest=place == least)
                for reaches, least in zip(found, smallest, strict=True)
            ),
            sequences=_sequences(counts[place]),
            why_not=_why_not(device, found[0][place], plan.question.headroom_percent),
            first=place in first,
        )
        for place, device in enumerate(known)
    )
    return DeviceTable(
        rows=rows,
        summary=_summary(plan, rows, strategies, smallest),
        strategies=strategies,
        sequences=plan.question.sequences,
        headroom_percent=plan.question.headroom_percent,
        basis=_basis(plan),
        readable=plan.readable,
    )


def _smallest(reaches: Sequence[DeviceReach]) -> int | None:
    return next((place for place, reach in enumerate(reaches) if reach.fits), None)


def _first(smallest: Sequence[int | None], count: int) -> set[int]:
    """Each smallest that fits with the one below it and the one above; the largest where none does."""
    places = {place + step for place in smallest if place is not None for step in (-1, 0, 1)}
    if None in smallest:
        places |= {count - 1}
    return places & set(range(count))


def _context(found: DeviceReach, *, smallest: bool) -> DeviceContext:
    if found.context_tokens is None:
        return DeviceContext(text="none", bound="not even a short prompt", smallest=False)
    if found.ends in (Ends.NATIVE_CONTEXT, Ends.QUESTION):
        bound = "model’s max" if found.ends is Ends.NATIVE_CONTEXT else "the most to ask"
        return DeviceContext(text=number(found.context_tokens), bound=bound, smallest=smallest)
    return DeviceContext(text=about(found.context_tokens), bound="", smallest=smallest)


def _sequences(count: int) -> str:
    return f"{count:,}{' or more' if count == MOST_SEQUENCES else ''}" if count else "does not fit"


def _why_not(device: Device, found: DeviceReach, headroom_percent: float) -> str:
    if found.weights_bytes >= device.usable_bytes:
        return "the weights alone do not fit"
    if found.weights_bytes >= found.budget_bytes:
        return f"the weights leave less than the {headroom_percent:g} % to keep free"
    return ""


def _summary(
    plan: Plan, rows: Sequence[DeviceRow], strategies: Sequence[Strategy], smallest: Sequence[int | None]
) -> str:
    """“with the normal cache: GeForce RTX 5090; with chunked prefill (512): A10G”."""
    basis = f" ({_basis(plan)})" if plan.record.stored else ""
    if not plan.readable:
        return f"none: the model reads at most {number(plan.record.native_context)} tokens"
    if set(smallest) == {None}:
        return f"none of these: the largest has {gib(rows[-1].device.usable_bytes)}{basis}"
    shown = 1 if len(set(smallest)) == 1 else len(smallest)
    told = (
        f"{with_strategy(strategy)}: {'none of these' if place is None else rows[place].device.name}"
        for strategy, place in zip(strategies[:shown], smallest[:shown], strict=True)
    )
    return f"{'; '.join(told)}{basis}"


def _basis(plan: Plan) -> str:
    """What the weights are reckoned as."""
    if plan.record.stored is None:
        return f"weights in {plan.question.dtype}"
    if stays_packed(plan.record, DEVICE) and not plan.record.stored.dequantized:
        return f"weights packed as {plan.record.stored.method}"
    return f"weights unpacked, in {plan.question.dtype}"
