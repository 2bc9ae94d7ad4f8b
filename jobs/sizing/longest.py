"""The longest prompt that fits a number of bytes."""

from jobs.sizing.budgets import run_peak
from jobs.sizing.record import InspectionRecord
from jobs.sizing.rising import Rising
from jobs.sizing.strategy import Strategy

PROMPT_STEP_TOKENS = 4
"""Prompts are multiples of 4 tokens, the same for every strategy: quantizing on axis 1 needs whole groups."""
MOST_TOKENS = 2**27


def longest_prompt(
    record: InspectionRecord,
    *,
    answer_tokens: int,
    budget_bytes: int,
    sequences: int,
    dtype: str,
    strategy: Strategy,
    attention: str = "sdpa",
    padded: bool = False,
    as_stored: bool = True,
    most_tokens: int | None = None,
) -> int | None:
    """The longest prompt, in multiples of 4 tokens, whose run's peak fits `budget_bytes` (capacity minus headroom).

    `most_tokens` bounds the prompt (the model's own maximum, the workload). None where not even 4 tokens fit.
    """

    def peak_bytes(prompt_tokens: int) -> int:
        return run_peak(
            record,
            prompt_tokens=prompt_tokens,
            answer_tokens=answer_tokens,
            sequences=sequences,
            dtype=dtype,
            strategy=strategy,
            attention=attention,
            padded=padded,
            as_stored=as_stored,
        ).peak_bytes

    most = MOST_TOKENS if most_tokens is None else most_tokens
    return Rising(peak_bytes, most=most, step=PROMPT_STEP_TOKENS).most_within(budget_bytes)
