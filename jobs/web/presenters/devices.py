"""“Which device do I need?”: real devices beside what the question would need of each."""

from dataclasses import dataclass

from jobs.procedure.device_reach import DeviceReach, device_reaches
from jobs.procedure.question_check import MOST_SEQUENCES
from jobs.procedure.reach import Ends
from jobs.sizing.devices import Device, devices
from jobs.sizing.units import gib
from jobs.web.plan import Plan


@dataclass(frozen=True, kw_only=True)
class DeviceRow:
    """why_not: in place of the context. smallest: of those that fit the question. sequences: as text."""

    device: Device
    context_tokens: int | None
    bound: str
    sequences: str
    why_not: str
    fits: bool
    smallest: bool


@dataclass(frozen=True, kw_only=True)
class DeviceTable:
    """summary: the smallest that fits, in a sentence."""

    rows: tuple[DeviceRow, ...]
    summary: str
    sequences: int
    headroom_percent: float


def device_table(plan: Plan) -> DeviceTable:
    """Raises Refusal("not_inspected")."""
    known = devices()
    found = device_reaches(plan.question, plan.record, [device.usable_bytes for device in known])
    readable = plan.record.native_context is None or plan.question.context_tokens <= plan.record.native_context
    smallest = next((place for place, each in enumerate(found) if each.fits and readable), None)
    rows = tuple(
        _row(device, each, smallest=place == smallest)
        for place, (device, each) in enumerate(zip(known, found, strict=True))
    )
    return DeviceTable(
        rows=rows,
        summary=_summary(rows, readable=readable),
        sequences=plan.question.sequences,
        headroom_percent=plan.question.headroom_percent,
    )


def _row(device: Device, found: DeviceReach, *, smallest: bool) -> DeviceRow:
    return DeviceRow(
        device=device,
        context_tokens=found.context_tokens,
        bound="model’s max" if found.ends is Ends.NATIVE_CONTEXT else "",
        sequences=f"{found.sequences:,}{' or more' if found.sequences == MOST_SEQUENCES else ''}",
        why_not=_why_not(found),
        fits=found.fits,
        smallest=smallest,
    )


def _why_not(found: DeviceReach) -> str:
    if not found.weights_fit:
        return "the weights alone do not fit"
    return "not even a short prompt fits" if found.context_tokens is None else ""


def _summary(rows: tuple[DeviceRow, ...], *, readable: bool) -> str:
    if not readable:
        return "none: the model does not read so much"
    row = next((row for row in rows if row.smallest), None)
    if row is None:
        return f"none of these: the largest has {gib(rows[-1].device.usable_bytes)}"
    return f"the smallest that fits: {row.device.name} with {gib(row.device.usable_bytes)}"
