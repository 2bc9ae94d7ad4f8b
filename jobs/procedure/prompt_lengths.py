"""How long a file's prompts are in tokens, and the workload that they suggest."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from jobs.procedure.contexts import MULTIPLE_TOKENS, up


@dataclass(frozen=True, kw_only=True)
class PromptLengths:
    """How long the prompts are, in tokens of one model's tokenizer; p50 and p95 are prompts that occur."""

    count: int
    p50: int
    p95: int
    longest: int

    @classmethod
    def of(cls, tokens: Sequence[int]) -> "PromptLengths":
        """Of at least one prompt's tokens, by nearest rank: the shortest length that 50, or 95, % do not exceed."""
        ranked = sorted(tokens)
        return cls(count=len(ranked), p50=_rank(ranked, 50), p95=_rank(ranked, 95), longest=ranked[-1])

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "PromptLengths":
        return cls(**{name: int(data[name]) for name in cls.__dataclass_fields__})

    def as_json(self) -> dict[str, int]:
        return asdict(self)

    @property
    def suggested_longest(self) -> int:
        """The longest prompt of a workload that takes all of these."""
        return max(MULTIPLE_TOKENS, up(self.longest))

    @property
    def suggested_typical(self) -> int:
        return max(MULTIPLE_TOKENS, up(self.p50))


def _rank(ranked: Sequence[int], percent: int) -> int:
    return ranked[-(-percent * len(ranked) // 100) - 1]
