"""How far each strategy would reach in a number of bytes, estimated."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum

from jobs.procedure.combination import combined_rise_bytes
from jobs.procedure.estimate import Estimator, is_inspected
from jobs.procedure.question import Question
from jobs.procedure.question_check import MOST_TOKENS
from jobs.sizing.budgets import refusal_of, weights_bytes
from jobs.sizing.kv import host_bytes
from jobs.sizing.longest import PROMPT_STEP_TOKENS
from jobs.sizing.record import InspectionRecord
from jobs.sizing.refusal import Refusal
from jobs.sizing.rising import Rising
from jobs.sizing.stored import stays_packed
from jobs.sizing.strategy import Strategy


class Ends(StrEnum):
    """What ends the context, or why there is none."""

    MEMORY = "memory"
    NATIVE_CONTEXT = "native_context"
    QUESTION = "question"  # as far as a question may ask
    NOTHING = "nothing"  # not even the shortest prompt fits
    REFUSED = "refused"  # the model cannot take the strategy
    UNREAD = "unread"  # the record has no passes for it


@dataclass(frozen=True, kw_only=True)
class Reach:
    """context_tokens: the longest prompt that should fit, with the answer; host_bytes: the CPU RAM that it needs.

    peak_bytes, fits: of the question's own prompt and answer. from_parts: the passes of a combination were not made,
    so its two parts' are added, which is a little more than they take together.
    """

    strategy: Strategy
    ends: Ends
    context_tokens: int | None = None
    peak_bytes: int | None = None
    fits: bool | None = None
    host_bytes: int = 0
    reason: str = ""
    from_parts: bool = False


class Prompts:
    """The prompts that the model and a question leave room for, in the steps that are measured."""

    def __init__(self, question: Question, record: InspectionRecord, peak_bytes: Callable[[int], int]) -> None:
        native = record.native_context
        most = MOST_TOKENS if native is None else min(MOST_TOKENS, native - question.answer_tokens)
        self._most = most - most % PROMPT_STEP_TOKENS
        self._beyond = Ends.QUESTION if native is None or most == MOST_TOKENS else Ends.NATIVE_CONTEXT
        self._rising = Rising(peak_bytes, most=self._most, step=PROMPT_STEP_TOKENS)

    def longest_within(self, budget_bytes: int) -> tuple[int | None, Ends]:
        """The longest prompt whose run fits, and what ends it."""
        if self._most < PROMPT_STEP_TOKENS:
            return None, Ends.NATIVE_CONTEXT
        prompt = self._rising.most_within(budget_bytes)
        if prompt is None:
            return None, Ends.NOTHING
        return prompt, Ends.MEMORY if prompt < self._most else self._beyond


def reach(question: Question, record: InspectionRecord, strategy: Strategy, budget_bytes: int) -> Reach:
    """budget_bytes: the capacity without its headroom."""
    reason = refusal_of(record, strategy)
    if reason is not None:
        return Reach(strategy=strategy, ends=Ends.REFUSED, reason=reason)
    peak_bytes, from_parts = peak_of(question, record, strategy)
    try:
        own_bytes = peak_bytes(question.prompt_tokens)
        prompt, ends = Prompts(question, record, peak_bytes).longest_within(budget_bytes)
    except Refusal as refusal:
        return Reach(strategy=strategy, ends=Ends.UNREAD, reason=refusal.message)
    return Reach(
        strategy=strategy,
        ends=ends,
        context_tokens=None if prompt is None else prompt + question.answer_tokens,
        peak_bytes=own_bytes,
        fits=own_bytes <= budget_bytes,
        host_bytes=0 if prompt is None else _host_bytes(question, record, strategy, prompt),
        from_parts=from_parts,
    )


def peak_of(question: Question, record: InspectionRecord, strategy: Strategy) -> tuple[Callable[[int], int], bool]:
    """The peak at a prompt, and whether it is put together from a combination's parts.

    The peak raises Refusal("not_inspected") for a strategy without passes.
    """
    estimator = Estimator.of(question, record, strategy)
    several = replace(question, prompt_tokens=question.prompt_tokens + (strategy.chunk_tokens or 0))
    if strategy.changes == 2 and not is_inspected(several, record, strategy):  # one chunk tells nothing of the next
        weights = weights_bytes(record, question.dtype, as_stored=stays_packed(record, question.device))
        if combined_rise_bytes(several, record, strategy, several.prompt_tokens) is not None:
            return lambda prompt: weights + (combined_rise_bytes(several, record, strategy, prompt) or 0), True
    return lambda prompt: estimator.at(prompt).peak_bytes, False


def _host_bytes(question: Question, record: InspectionRecord, strategy: Strategy, prompt: int) -> int:
    return host_bytes(
        record,
        tokens=prompt + question.answer_tokens - 1,
        sequences=question.sequences,
        dtype=question.dtype,
        strategy=strategy,
    )
