"""A field's slider: how far it goes, in which steps, and how its place is written into the field."""

from dataclasses import dataclass

from jobs.procedure.question_check import MOST_HEADROOM_PERCENT
from jobs.sizing.units import GIB, MIB

FARTHEST = 4  # times the run's own capacity, to either side
STEPS = 400
IN_GIB_FROM = 8 * GIB


@dataclass(frozen=True, kw_only=True)
class Slider:
    """unit: what follows the number in the field, empty where the field has it beside itself. own: the place of the
    run's own value, one of its steps; there the field is blank, which is exactly that value."""

    least: float
    most: float
    step: float
    value: float
    own: float
    unit: str = ""


def capacity_slider(capacity_bytes: int, *, own_bytes: int) -> Slider:
    """In GiB where the run's own is a few of them, else in whole MiB; a capacity beyond its ends stands at the end."""
    unit, size = ("GiB", GIB) if own_bytes >= IN_GIB_FROM else ("MiB", MIB)
    most = max(1, round(FARTHEST * own_bytes / size))
    step = max(1, round(most / STEPS)) if unit == "MiB" else max(0.1, round(most / STEPS, 1))
    digits = 0 if unit == "MiB" else 1
    own = max(step, round(own_bytes / size, digits))
    below = max(0, int((own - own / FARTHEST) / step))
    least = round(own - below * step, digits)
    value = own if capacity_bytes == own_bytes else min(most, max(least, round(capacity_bytes / size, 2)))
    return Slider(least=least, most=most, step=step, value=value, own=own, unit=unit)


def headroom_slider(percent: float, *, own_percent: float) -> Slider:
    """In steps of a percent, or as fine as the run's own headroom."""
    digits = len(f"{own_percent:g}".partition(".")[2])
    return Slider(least=0, most=MOST_HEADROOM_PERCENT, step=10**-digits, value=percent, own=own_percent)
