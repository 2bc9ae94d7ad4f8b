"""The unit that an axis is drawn in."""

from collections.abc import Iterable
from dataclasses import dataclass

from jobs.sizing.units import GIB, MIB


@dataclass(frozen=True, kw_only=True)
class ByteUnit:
    name: str
    size_bytes: int

    def of(self, size_bytes: float) -> float:
        return size_bytes / self.size_bytes


def unit_for(sizes: Iterable[int]) -> ByteUnit:
    """GiB from one GiB on, else MiB."""
    return (
        ByteUnit(name="GiB", size_bytes=GIB) if max(sizes, default=0) >= GIB else ByteUnit(name="MiB", size_bytes=MIB)
    )
