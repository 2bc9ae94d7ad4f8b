"""One measured point, and the asking for it."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from jobs.procedure.quality import Quality, QualityAsk
from jobs.procedure.question import Question
from jobs.sizing.strategy import Strategy


class Outcome(StrEnum):
    OK = "ok"
    OUT_OF_MEMORY = "out_of_memory"  # the only outcome that says anything about the limit
    FAILED = "failed"  # the strategy's own failure, a crash, a hang
    SKIPPED = "skipped"  # never run: the time cap, not applicable


@dataclass(frozen=True, kw_only=True)
class Ask:
    """Measure this. prompt_tokens is a multiple of 4; the same seed gives every strategy the same prompts.

    budget_bytes, min_decode_tokens_per_s, max_ttft_s: what decides whether the point is acceptable; one that lies as
    near to any of them as readings scatter is measured more often.
    """

    stage: str
    strategy: Strategy
    prompt_tokens: int
    answer_tokens: int
    sequences: int
    capacity_bytes: int
    least_repeats: int = 1
    most_repeats: int = 1
    seed: int = 0
    budget_bytes: int | None = None
    min_decode_tokens_per_s: float | None = None
    max_ttft_s: float | None = None

    @property
    def context_tokens(self) -> int:
        return self.prompt_tokens + self.answer_tokens

    def as_json(self) -> dict[str, Any]:
        return asdict(self) | {"strategy": str(self.strategy)}


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """Field names are the contract's. Bytes on the device but host_bytes; seconds; tokens/s of one sequence.

    peak_bytes: weights included. kv_bytes: the cache after the last token; kv_prefill_bytes: what the cache holds
    right after the prompt, in storages. working_bytes: peak − weights − the KV of the phase in which the peak stood.
    decode_tokens_per_s is of one sequence, all_tokens_per_s of all of them together; inter_token_p50_s and _p95_s are
    the times between two tokens of one sequence. total_s: one request, from the call to the last token.
    spread, ttft_spread: (max − min) / median over the repeats; peak_spread_bytes: max − min; None for one repeat.
    noisy: the most repeats were made and the spread is still not small.
    warm_s: the warm-up before it; generate_s: all of this point's calls of generate(), warm-ups included.
    leaked_bytes: held before this point beyond what was held after loading. fresh_process: why another process was
    started for this point; tainted: what else used the device meanwhile. reserved_bytes, device_used_bytes and
    by_device (device -> figures) are a GPU's.
    settings: the full resolved generation settings of the call. None where nothing was measured.
    """

    strategy: str
    context: int
    prompt: int
    answer: int
    sequences: int
    outcome: Outcome
    stage: str = ""
    error: Mapping[str, str] | None = None
    peak_bytes: int | None = None
    kv_bytes: int | None = None
    kv_prefill_bytes: int | None = None
    working_bytes: int | None = None
    host_bytes: int | None = None
    ttft_s: float | None = None
    decode_tokens_per_s: float | None = None
    total_s: float | None = None
    all_tokens_per_s: float | None = None
    inter_token_p50_s: float | None = None
    inter_token_p95_s: float | None = None
    repeats: int = 0
    spread: float | None = None
    ttft_spread: float | None = None
    peak_spread_bytes: int | None = None
    noisy: bool = False
    warm_s: float | None = None
    generate_s: float | None = None
    leaked_bytes: int | None = None
    fresh_process: str | None = None
    tainted: str | None = None
    reserved_bytes: int | None = None
    device_used_bytes: int | None = None
    by_device: Mapping[str, Any] | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        return asdict(self) | {"outcome": str(self.outcome)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Measurement":
        known = {name: data[name] for name in cls.__dataclass_fields__ if name in data}
        return cls(**{**known, "outcome": Outcome(data["outcome"])})


@dataclass(frozen=True, kw_only=True)
class Loaded:
    """What loading the model told.

    device: {"name", "kind" ("cpu" or "cuda"), "capacity_bytes" (the whole device), "enforced" (whether a
    measured pass is held to the question's capacity)}.
    environment: versions, CPU or GPU, threads, model revision, config hash, attention implementation.
    """

    weights_bytes: int
    parameters: int
    load_s: float
    random_weights: bool
    device: Mapping[str, Any]
    environment: Mapping[str, Any]


class Bench(Protocol):
    """What the procedure asks of the world. Any method may raise Cancelled or a Refusal.

    downloads: whether the model's files come over a network, and are to be fetched before it is loaded.
    """

    @property
    def downloads(self) -> bool: ...

    def fetch(self) -> Mapping[str, Any]:
        """{"bytes", "fetched_bytes" (not here before), "seconds", "revision"}."""
        ...

    def load(self) -> Loaded: ...

    def measure(self, ask: Ask) -> Measurement:
        """Run it; a failure of any kind is a measurement with its outcome, never an exception."""
        ...

    def quality(self, ask: QualityAsk) -> Quality:
        """Score it on a text; a failure of any kind is a quality with its outcome, never an exception."""
        ...


class Cancelled(Exception):
    """Somebody asked for the run to stop."""


def skipped(
    question: Question, strategy: Strategy, prompt_tokens: int, *, stage: str, code: str, message: str
) -> Measurement:
    """A point that was not run, with the reason."""
    return Measurement(
        strategy=str(strategy),
        context=prompt_tokens + question.answer_tokens,
        prompt=prompt_tokens,
        answer=question.answer_tokens,
        sequences=question.sequences,
        outcome=Outcome.SKIPPED,
        stage=stage,
        error={"code": code, "message": message},
    )
