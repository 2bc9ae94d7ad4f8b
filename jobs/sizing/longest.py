"""The longest prompt, and the most cached tokens, that fit a number of bytes."""

from jobs.sizing.budgets import refuse_unless_applicable, run_peak
from jobs.sizing.kv import kv_bytes
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


def most_tokens_for_kv(
    record: InspectionRecord, *, budget_bytes: int, sequences: int, dtype: str, strategy: Strategy
) -> int:
    """Tokens of each sequence whose cache alone fits `budget_bytes` while answering, rounded down; 0 where none do.

    Never above MOST_TOKENS, which a cache that stops growing reaches. Raises Refusal("not_applicable").
    """
    refuse_unless_applicable(record, strategy)
    strides = {stride for group in record.layers for _, stride in group.buffer}

    def most_held_bytes(tokens: int) -> int:
        """Tokens that wait for a whole stride take more than the entry that they become."""
        fullest = {tokens, *(tokens // stride * stride - 1 for stride in strides if tokens >= stride)}
        return max(
            kv_bytes(record, tokens=held, sequences=sequences, dtype=dtype, strategy=strategy) for held in fullest
        )

    return Rising(most_held_bytes, most=MOST_TOKENS, step=1).most_within(budget_bytes) or 0
