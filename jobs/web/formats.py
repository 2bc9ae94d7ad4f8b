"""Figures as pages print them; a figure that is not there is a dash."""

import re
from datetime import datetime

from jobs.sizing.units import bytes_text, column_text
from jobs.sizing.units import gib as gib_text

MISSING = "–"
_BIDI_CONTROLS = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def plain_name(name: object) -> str:
    """A name as somebody typed it, without the marks that would turn the letters around it about."""
    return _BIDI_CONTROLS.sub("", str(name))


def size(count: float | None) -> str:
    return MISSING if count is None else bytes_text(int(count))


def gib(count: float | None) -> str:
    """Always in GiB, two decimals: for figures that are compared."""
    return MISSING if count is None else gib_text(int(count))


def beside(count: float | None, largest: int) -> str:
    """In the unit that serves the largest of the figures it stands beside; what is there is never shown as nothing."""
    if count is None:
        return MISSING
    text = column_text(int(count), largest)
    figure, _, unit = text.partition(" ")
    return f"< {figure[:-1]}1 {unit}" if count > 0 and not float(figure.replace(",", "")) else text


def number(value: float | None) -> str:
    """12,345; a fraction keeps three significant digits."""
    if value is None:
        return MISSING
    if isinstance(value, int) or float(value).is_integer():
        return f"{int(value):,}"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def about(count: int | None) -> str:
    """An estimate to three significant figures, down: “about 24,200”."""
    if count is None:
        return MISSING
    step = 10 ** max(0, len(str(count)) - 3)
    return f"about {count - count % step:,}"


def tokens(count: int | None) -> str:
    return MISSING if count is None else f"{count:,} {'token' if count == 1 else 'tokens'}"


def seconds(value: float | None) -> str:
    """A short time, as measured: 0.42 s, 12.3 s."""
    if value is None:
        return MISSING
    if value < 0.1:
        return f"{value * 1000:.3g} ms"
    return f"{value:.2f} s" if value < 10 else f"{value:,.1f} s"


def milliseconds(value: float | None) -> str:
    """Without the unit, which the column has: 46.0, 132."""
    if value is None:
        return MISSING
    return f"{value * 1000:.{1 if value < 0.1 else 0}f}"


def speed(tokens_per_s: float | None) -> str:
    if tokens_per_s is None:
        return MISSING
    return f"{tokens_per_s:,.0f}" if tokens_per_s >= 100 else f"{tokens_per_s:.1f}"


def percent(fraction: float | None, *, signed: bool = False) -> str:
    """A fraction as a percentage, with a true minus sign."""
    if fraction is None:
        return MISSING
    text = f"{abs(fraction) * 100:.1f} %"
    if text == "0.0 %" or not (signed or fraction < 0):
        return text
    return f"{'−' if fraction < 0 else '+'}{text}"


def duration(elapsed_s: float | None) -> str:
    """A long time, as a clock says it: 42 s, 3 min 05 s, 1 h 02 min."""
    if elapsed_s is None:
        return MISSING
    whole = int(elapsed_s)
    hours, minutes, rest = whole // 3600, whole % 3600 // 60, whole % 60
    if hours:
        return f"{hours} h {minutes:02d} min"
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"


def elapsed_s(start: datetime | None, end: datetime | None) -> float | None:
    return None if start is None or end is None else (end - start).total_seconds()


def parameters(count: int | None) -> str:
    if count is None:
        return MISSING
    for unit, divisor in (("T", 1e12), ("B", 1e9), ("M", 1e6)):
        if count >= 0.9995 * divisor:  # what rounds to 1,000 of a unit is 1 of the next
            return f"{count / divisor:.3g} {unit}"
    return f"{count:,}"


def strategy_series(name: str) -> str:
    """The colour token of a strategy's series: --series-hqq-4 for quantized:hqq:4."""
    if "+" in name:
        return "other"
    head, *rest = name.split(":")
    if head == "quantized":
        return "-".join(rest)
    return head.replace("_", "-")
