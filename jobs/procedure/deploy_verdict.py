"""The answer to whether something may be deployed, and what it is compared with."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from jobs.procedure.difference import Weight


class Verdict(StrEnum):
    OK = "ok"
    STALE = "stale"  # measured, and something that it depends on is otherwise
    NOT_COVERED = "not_covered"  # beyond what was measured, or never measured


EXIT_CODES = {Verdict.OK: 0, Verdict.STALE: 3, Verdict.NOT_COVERED: 4}


@dataclass(frozen=True, kw_only=True)
class Adopted:
    """What the team decided to deploy: at most so many tokens with this strategy."""

    strategy: str
    context: int


@dataclass(frozen=True, kw_only=True)
class Measured:
    """The answer that is deployed by: a run's, and what the team adopted of it.

    limits: strategy -> the context that was measured, None where nothing fits. model: the names that it goes by.
    """

    model: tuple[str, ...]
    revision: str
    question: Mapping[str, Any]
    environment: Mapping[str, Any]
    device_name: str
    limits: Mapping[str, int | None]
    provisional: frozenset[str] = frozenset()
    adopted: Adopted | None = None

    def bound(self, strategy: str) -> int | None:
        """Tokens that may be deployed with it: what is adopted bounds the adopted strategy alone."""
        if self.adopted is not None and self.adopted.strategy == strategy:
            return self.adopted.context
        return self.limits.get(strategy)


@dataclass(frozen=True, kw_only=True)
class Reason:
    """Of one thing: as it will be deployed, as it was measured, and what follows from that.

    verdict: None where it is in doubt, which decides nothing. sentence: the same for people.
    """

    what: str
    deployed: str
    measured: str
    verdict: Verdict | None
    sentence: str

    def as_json(self) -> dict[str, str]:
        follows = {"weight": str(Weight.DOUBT)} if self.verdict is None else {"verdict": str(self.verdict)}
        told = {"what": self.what, "deployed": self.deployed, "measured": self.measured}
        return told | follows | {"sentence": self.sentence}


@dataclass(frozen=True, kw_only=True)
class Checked:
    """in_doubt: differences that probably change nothing. not_told: what the settings leave open, so unchecked.

    limit_context: tokens that may be deployed with the strategy. note: that the team adopted another, else empty.
    """

    verdict: Verdict
    reasons: tuple[Reason, ...]
    in_doubt: tuple[Reason, ...]
    not_told: tuple[str, ...]
    strategy: str
    limit_context: int | None
    by_strategy: Mapping[str, int | None]
    adopted: Adopted | None
    note: str
    message: str

    def as_json(self) -> dict[str, Any]:
        return {
            "verdict": str(self.verdict),
            "message": self.message,
            "note": self.note,
            "reasons": [reason.as_json() for reason in self.reasons],
            "in_doubt": [reason.as_json() for reason in self.in_doubt],
            "not_told": list(self.not_told),
            "limit": {"strategy": self.strategy, "context": self.limit_context},
            "by_strategy": dict(self.by_strategy),
            "adopted": asdict(self.adopted) if self.adopted else None,
        }
