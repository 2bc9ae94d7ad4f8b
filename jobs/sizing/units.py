"""Bytes as people write and read them: binary units alone, so that GiB always means 2^30."""

import re

from jobs.sizing.refusal import Refusal

KIB = 2**10
MIB = 2**20
GIB = 2**30
_UNITS = {"b": 1, "kib": KIB, "mib": MIB, "gib": GIB, "tib": 2**40}
_DECIMAL_UNITS = {"kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12}
_SIZE = re.compile(r"(?P<number>\d{1,15}(?:\.\d{1,6})?)\s*(?P<unit>[a-z]*)", re.ASCII | re.IGNORECASE)
MOST_BYTES = 2**50
SMALL_BYTES = 4 * GIB
DTYPE_BYTES: dict[str, int] = {"bfloat16": 2, "float16": 2, "float32": 4}
"""The compute precisions that a model can be asked for, with the bytes of one element."""


def parse_size(text: str) -> int:
    """Read `300MiB`, `1.5GiB` or a number with its unit into bytes; raises Refusal("bad_size")."""
    match = _SIZE.fullmatch(text.strip())
    unit = _UNITS.get(match["unit"].lower()) if match else None
    size = int(float(match["number"]) * unit) if match and unit else 0
    if not 0 < size <= MOST_BYTES:
        vendors = _as_vendors_count(match["number"], match["unit"]) if match else ""
        raise Refusal(
            "bad_size",
            f"“{text[:40]}” is not a size of memory.",
            f"Write it like 300MiB or 24GiB (binary units){vendors}.",
        )
    return size


def _as_vendors_count(number: str, unit: str) -> str:
    """What decimal gigabytes are in GiB, for whoever copied them from a data sheet."""
    decimal = _DECIMAL_UNITS.get(unit.lower())
    size = int(float(number) * decimal) if decimal else 0
    return f"; {number} {unit.upper()} as vendors count is {bytes_text(size)}" if 0 < size <= MOST_BYTES else ""


def bytes_text(size: int) -> str:
    """`1.95 GiB`, `280 MiB`, `512 KiB` or `12 B`: the largest unit of which there is at least one."""
    for unit, name in ((GIB, "GiB"), (MIB, "MiB"), (KIB, "KiB")):
        if abs(size) >= unit:
            return f"{_short(size / unit)} {name}"
    return f"{size} B"


def gib(size: int) -> str:
    """Always in GiB, two decimals: for columns that are compared."""
    return f"{size / GIB:.2f} GiB"


def column_text(size: int, largest: int) -> str:
    """For figures that are compared, all in one unit: MiB, one decimal, where the largest is below 4 GiB; else GiB."""
    return f"{size / MIB:,.1f} MiB" if largest < SMALL_BYTES else gib(size)


def _short(number: float) -> str:
    return f"{number:.0f}" if number == int(number) else f"{number:.2f}"


def dtype_bytes(dtype: str) -> int:
    """Bytes of one element; raises Refusal("unknown_dtype")."""
    if dtype not in DTYPE_BYTES:
        raise Refusal("unknown_dtype", f"“{dtype[:40]}” is not a precision.", f"Use one of {', '.join(DTYPE_BYTES)}.")
    return DTYPE_BYTES[dtype]
