"""Real devices and the memory that programs find on them, each figure with the page it was read from."""

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from jobs.sizing.units import parse_size


@dataclass(frozen=True, kw_only=True)
class Device:
    """vendor_gb: in units of 10^9 bytes, as the vendor's page says. usable_bytes: as `reported_by` said there."""

    name: str
    vendor_gb: int
    usable_bytes: int
    reported_by: str
    vendor_source: str
    reported_source: str


@cache
def devices() -> tuple[Device, ...]:
    """By rising memory."""
    text = files("jobs.sizing").joinpath("devices.toml").read_text(encoding="utf-8")
    found = [
        Device(
            name=name,
            vendor_gb=row["vendor_gb"],
            usable_bytes=parse_size(row["reported"]),
            reported_by=row.get("reported_by", "PyTorch"),
            vendor_source=row["vendor_source"],
            reported_source=row["reported_source"],
        )
        for name, row in tomllib.loads(text).items()
    ]
    return tuple(sorted(found, key=lambda device: device.usable_bytes))
