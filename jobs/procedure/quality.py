"""What a quantized cache costs in quality: its next-token distributions beside the normal cache's on the same text."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from jobs.sizing.strategy import RESIDUAL_TOKENS, Strategy

SCORED_TOKENS = 256
LEAST_CONTEXT_TOKENS = RESIDUAL_TOKENS + SCORED_TOKENS + 1
"""A prompt longer than the window that stays unquantized, then the scored tokens; the last token is never cached."""
RANDOM_WEIGHTS = "random weights"


class QualityOutcome(StrEnum):
    OK = "ok"
    NOT_MEASURED = "not_measured"  # there is nothing to compare: random weights, no tokenizer, too short, no time left
    OUT_OF_MEMORY = "out_of_memory"  # the normal cache, or the comparison, does not fit there
    FAILED = "failed"  # a crash, a hang, an exception of a library


@dataclass(frozen=True, kw_only=True)
class QualityAsk:
    """Score the last `scored_tokens` of a text; the same seed gives every strategy the same text."""

    strategy: Strategy
    context_tokens: int
    scored_tokens: int = SCORED_TOKENS
    seed: int = 0

    def as_json(self) -> dict[str, Any]:
        return asdict(self) | {"strategy": str(self.strategy)}

    def without_figures(self, outcome: QualityOutcome, message: str) -> "Quality":
        """Why there are none."""
        return Quality(strategy=str(self.strategy), context=self.context_tokens, outcome=outcome, message=message)


@dataclass(frozen=True, kw_only=True)
class Quality:
    """None where nothing was measured; then `message` says why.

    mean_kl: KL(normal cache ‖ strategy) of the next token's distribution, in nats, averaged over the scored tokens;
    kl_low to kl_high: its 95 % interval. same_top: the share of scored tokens for which both caches find the same
    token the likeliest. loss_difference: mean negative log-likelihood of the text's own tokens, strategy − normal
    cache, in nats. text: what was read; text_sha256: of its token ids. elapsed_s: the time it took, reference included.
    """

    strategy: str
    context: int
    outcome: QualityOutcome
    scored_tokens: int = 0
    mean_kl: float | None = None
    kl_low: float | None = None
    kl_high: float | None = None
    same_top: float | None = None
    loss_difference: float | None = None
    text: str | None = None
    text_sha256: str | None = None
    elapsed_s: float | None = None
    message: str = ""

    def as_json(self) -> dict[str, Any]:
        return asdict(self) | {"outcome": str(self.outcome)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Quality":
        known = {name: data[name] for name in cls.__dataclass_fields__ if name in data}
        return cls(**{**known, "outcome": QualityOutcome(data["outcome"])})

    def is_above(self, max_kl: float | None) -> bool:
        """The mean decides, not its interval."""
        return self.mean_kl is not None and max_kl is not None and self.mean_kl > max_kl

    def is_within(self, max_kl: float | None) -> bool:
        return self.mean_kl is not None and not self.is_above(max_kl)

    def straddles(self, max_kl: float | None) -> bool:
        """Whether the bound lies within the interval: another text might decide otherwise."""
        low, high = self.kl_low, self.kl_high
        return max_kl is not None and low is not None and high is not None and low <= max_kl <= high
