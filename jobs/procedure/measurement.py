"""One measured point, and the asking for it."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from jobs.procedure.question import Question
from jobs.sizing.strategy import Strategy


class Outcome(StrEnum):
    OK = "ok"
    OUT_OF_MEMORY = "out_of_memory"  # the only outcome that says anything about the limit
    FAILED = "failed"  # the strategy's own failure, a crash, a hang
    SKIPPED = "skipped"  # never run: the time cap, not applicable


@dataclass(frozen=True, kw_only=True)
class Ask:
    """Measure this. prompt_tokens is a multiple of 4; the same seed gives every strategy the same prompts."""

    stage: str
    strategy: Strategy
    prompt_tokens: int
    answer_tokens: int
    sequences: int
    capacity_bytes: int
    least_repeats: int = 1
    most_repeats: int = 1
    seed: int = 0

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
    spread: (max − min) / median of decode_tokens_per_s over the repeats; None for one repeat.
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
    repeats: int = 0
    spread: float | None = None
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
    """What the procedure asks of the world. Any method may raise Cancelled or a Refusal."""

    def load(self) -> Loaded: ...

    def measure(self, ask: Ask) -> Measurement:
        """Run it; a failure of any kind is a measurement with its outcome, never an exception."""
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
