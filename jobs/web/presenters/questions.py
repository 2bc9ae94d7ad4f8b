"""A question as pages say it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jobs.sizing.stored import AS_STORED, PACKED_WORDS
from jobs.sizing.strategy import strategy_label
from jobs.web.formats import number, size


@dataclass(frozen=True, kw_only=True)
class QuestionWords:
    workload: str
    asked_context: int
    dtype: str
    sequences: str
    capacity: str
    bounds: str
    strategies: tuple[str, ...]
    depth: str


def question_words(question: Mapping[str, Any]) -> QuestionWords:
    """The workload, the constraints and what is tried."""
    prompt, answer = question["prompt_tokens"], question["answer_tokens"]
    sequences = question["sequences"]
    return QuestionWords(
        workload=f"prompt up to {number(prompt)}, answer {number(answer)} tokens",
        asked_context=prompt + answer,
        dtype=question["dtype"] + _packed(question.get("weights", AS_STORED)),
        sequences="one sequence" if sequences == 1 else f"{number(sequences)} sequences at once",
        capacity=_capacity(question),
        bounds=_bounds(question),
        strategies=tuple(strategy_label(name) for name in question["strategies"]),
        depth="full: repeated until the spread is small" if question["depth"] == "full" else "quick: one run a point",
    )


def _capacity(question: Mapping[str, Any]) -> str:
    capacity = question.get("capacity_bytes")
    amount = size(capacity) if capacity else "all of the device"
    return f"{amount}, {number(question['headroom_percent'])} % kept free"


def _packed(weights: str) -> str:
    return "" if weights == AS_STORED else f", weights packed in {PACKED_WORDS[weights]}"


def _bounds(question: Mapping[str, Any]) -> str:
    bounds = []
    if question.get("min_decode_tokens_per_s"):
        bounds.append(f"at least {number(question['min_decode_tokens_per_s'])} tokens/s")
    if question.get("max_ttft_s"):
        bounds.append(f"first token within {number(question['max_ttft_s'])} s")
    if question.get("max_kl"):
        bounds.append(f"quantized caches within a mean KL of {question['max_kl']:g}")
    return ", ".join(bounds) or "none"


def workload_summary(question: Mapping[str, Any]) -> str:
    return f"{number(question['prompt_tokens'])} + {number(question['answer_tokens'])}"
