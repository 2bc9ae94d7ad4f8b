"""The longest prompt that fits a number of bytes."""

from collections.abc import Callable

from jobs.sizing.budgets import run_peak
from jobs.sizing.record import InspectionRecord
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

    def fits(prompt_tokens: int) -> bool:
        peak = run_peak(
            record,
            prompt_tokens=prompt_tokens,
            answer_tokens=answer_tokens,
            sequences=sequences,
            dtype=dtype,
            strategy=strategy,
            attention=attention,
            padded=padded,
            as_stored=as_stored,
        )
        return peak.peak_bytes <= budget_bytes

    return most_fitting(fits, MOST_TOKENS if most_tokens is None else most_tokens, step=PROMPT_STEP_TOKENS)


def most_fitting(fits: Callable[[int], bool], most: int, *, step: int = 1) -> int | None:
    """The largest multiple of `step` up to `most` that `fits`, where what fits fits smaller too; None for none."""
    above = most // step + 1
    if above < 2 or not fits(step):
        return None
    if fits((above - 1) * step):
        return (above - 1) * step
    below = 1
    while above - below > 1:
        middle = (below + above) // 2
        below, above = (middle, above) if fits(middle * step) else (below, middle)
    return below * step
