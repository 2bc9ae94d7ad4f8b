"""One thing that an answer rests on and that is otherwise now."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any


class Weight(StrEnum):
    STALE = "stale"
    DOUBT = "doubt"


@dataclass(frozen=True, kw_only=True)
class Difference:
    """what, was and now are in the words of a page."""

    what: str
    was: str
    now: str
    weight: Weight

    @property
    def sentence(self) -> str:
        """“transformers 5.23.0 → 5.24.0”."""
        return f"{self.what} {self.was} → {self.now}"

    def as_json(self) -> dict[str, str]:
        return asdict(self) | {"weight": str(self.weight)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Difference":
        return cls(what=data["what"], was=data["was"], now=data["now"], weight=Weight(data["weight"]))


def stale(what: str, was: str, now: str) -> Difference:
    return Difference(what=what, was=was, now=now, weight=Weight.STALE)


def weightiest(differences: Iterable[Difference]) -> Weight | None:
    """None: the answer holds."""
    weights = {difference.weight for difference in differences}
    return Weight.STALE if Weight.STALE in weights else Weight.DOUBT if weights else None
