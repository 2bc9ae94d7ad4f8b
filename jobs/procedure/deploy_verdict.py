"""The answer to whether something may be deployed, and what it is compared with."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Verdict(StrEnum):
    OK = "ok"
    STALE = "stale"  # measured, and something that it depends on is otherwise
    NOT_COVERED = "not_covered"  # beyond what was measured, or never measured


EXIT_CODES = {Verdict.OK: 0, Verdict.STALE: 3, Verdict.NOT_COVERED: 4}


@dataclass(frozen=True, kw_only=True)
class Measured:
    """The answer that is deployed by: a run's, at the limit that the team adopted if it did.

    limits: strategy -> the context that it holds for, None where nothing fits. model: the names that it goes by.
    """

    model: tuple[str, ...]
    revision: str
    question: Mapping[str, Any]
    environment: Mapping[str, Any]
    device_name: str
    limits: Mapping[str, int | None]
    provisional: frozenset[str] = frozenset()
    adopted: bool = False


@dataclass(frozen=True, kw_only=True)
class Reason:
    """Of one thing: as it will be deployed, as it was measured, and what follows from that."""

    what: str
    deployed: str
    measured: str
    verdict: Verdict

    def as_json(self) -> dict[str, str]:
        return {
            "what": self.what,
            "deployed": self.deployed,
            "measured": self.measured,
            "verdict": str(self.verdict),
        }

    @property
    def sentence(self) -> str:
        return f"{self.what}: to be deployed {self.deployed}, measured {self.measured}"


@dataclass(frozen=True, kw_only=True)
class Checked:
    """in_doubt: differences that probably change nothing. not_told: what the settings leave open, so unchecked."""

    verdict: Verdict
    reasons: tuple[Reason, ...]
    in_doubt: tuple[Reason, ...]
    not_told: tuple[str, ...]
    strategy: str
    limit_context: int | None
    message: str

    def as_json(self) -> dict[str, Any]:
        return {
            "verdict": str(self.verdict),
            "message": self.message,
            "reasons": [reason.as_json() for reason in self.reasons],
            "in_doubt": [reason.as_json() for reason in self.in_doubt],
            "not_told": list(self.not_told),
            "limit": {"strategy": self.strategy, "context": self.limit_context},
        }
