"""What is asked: a model's workload on a device, and what an answer must respect."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from jobs.sizing.stored import AS_STORED
from jobs.sizing.strategy import Strategy


class Depth(StrEnum):
    QUICK = "quick"  # one repeat a point, a second of one that takes less than a second
    FULL = "full"  # repeats until the spread is small


@dataclass(frozen=True, kw_only=True)
class Question:
    """Tokens are of one sequence; bytes are of the device; speeds are of one sequence.

    capacity_bytes: what weights, KV cache and working memory may take together (None: all of the device).
    headroom_percent: the part of the capacity kept free, 0 to 90.
    strategies: the changes to try, without the baseline.
    device: "cpu", "cuda:0", or several, "cuda:0,cuda:1". weights: "as-stored", "bnb4" or "bnb8".
    max_kl: the most that a quantized cache's tokens may differ from the normal cache's (mean KL divergence, nats).
    prompts_sha256: of the team's own prompts, None for random tokens.
    """

    model: str
    prompt_tokens: int
    typical_prompt_tokens: int
    answer_tokens: int
    sequences: int = 1
    dtype: str = "bfloat16"
    attention: str = "sdpa"
    device: str = "cpu"
    capacity_bytes: int | None = None
    headroom_percent: float = 10.0
    min_decode_tokens_per_s: float | None = None
    max_ttft_s: float | None = None
    max_kl: float | None = None
    host_capacity_bytes: int | None = None
    strategies: tuple[Strategy, ...] = ()
    compare_anyway: bool = False
    depth: Depth = Depth.QUICK
    time_cap_s: float | None = None
    weights: str = AS_STORED
    prompts_sha256: str | None = None

    @property
    def context_tokens(self) -> int:
        """The workload's longest context: prompt + answer."""
        return self.prompt_tokens + self.answer_tokens

    def as_json(self) -> dict[str, Any]:
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return fields | {"strategies": [str(strategy) for strategy in self.strategies], "depth": str(self.depth)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Question":
        fields = dict(data)
        fields["strategies"] = tuple(Strategy.parse(text) for text in data["strategies"])
        fields["depth"] = Depth(data["depth"])
        return cls(**fields)
