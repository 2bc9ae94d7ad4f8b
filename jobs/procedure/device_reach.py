"""Which device a question needs: how far a strategy reaches on each, and how many sequences it carries at once."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from jobs.procedure.estimate import Estimator
from jobs.procedure.question import Question
from jobs.procedure.question_check import MOST_SEQUENCES
from jobs.procedure.reach import Ends, Prompts, peak_of
from jobs.procedure.verdict import Bounds
from jobs.sizing.budgets import refusal_of
from jobs.sizing.record import InspectionRecord
from jobs.sizing.refusal import Refusal
from jobs.sizing.rising import Rising
from jobs.sizing.strategy import BASELINE, Strategy

DEVICE = "cuda:0"  # all of them are: some packed weights stay packed there alone


@dataclass(frozen=True, kw_only=True)
class DeviceReach:
    """context_tokens: of each of the question's sequences; fits: the question's own sequences, prompt and answer do.

    budget_bytes: the device's memory without the headroom.
    """

    weights_bytes: int
    budget_bytes: int
    fits: bool
    context_tokens: int | None
    ends: Ends


def device_reaches(
    question: Question, record: InspectionRecord, sizes: Iterable[int], strategy: Strategy = BASELINE
) -> tuple[DeviceReach, ...]:
    """For devices of so many bytes, with the question's headroom kept free on each.

    The devices are searched together, so that each length is sized once for all of them. Raises
    Refusal("not_inspected") or Refusal("not_applicable").
    """
    question = _on_a_device(question)
    weights_bytes = Estimator.of(question, record, BASELINE).at(question.prompt_tokens).weights_bytes
    peak_bytes, _ = peak_of(question, record, strategy)
    own_bytes = peak_bytes(question.prompt_tokens)
    prompts = Prompts(question, record, peak_bytes)

    def one(budget_bytes: int) -> DeviceReach:
        none = None, Ends.NOTHING
        prompt, ends = none if weights_bytes >= budget_bytes else prompts.longest_within(budget_bytes)
        return DeviceReach(
            weights_bytes=weights_bytes,
            budget_bytes=budget_bytes,
            fits=own_bytes <= budget_bytes,
            context_tokens=None if prompt is None else prompt + question.answer_tokens,
            ends=ends,
        )

    return tuple(one(Bounds.of(question, size).budget_bytes) for size in sizes)


def device_sequences(question: Question, record: InspectionRecord, sizes: Iterable[int]) -> tuple[int, ...]:
    """How many of the question's own prompt and answer each device carries at once with the normal cache."""
    question = _on_a_device(question)
    counts = Rising(lambda count: _peak_with(question, record, count), most=MOST_SEQUENCES)
    return tuple(counts.most_within(Bounds.of(question, size).budget_bytes) or 0 for size in sizes)


def smallest_strategy(question: Question, record: InspectionRecord, strategies: Sequence[Strategy]) -> Strategy | None:
    """The one that needs least for the question, where it needs less than the normal cache; of those read so far."""
    question = _on_a_device(question)
    sizes = {}
    for strategy in (BASELINE, *strategies):
        try:
            if refusal_of(record, strategy) is None:
                sizes[strategy] = peak_of(question, record, strategy)[0](question.prompt_tokens)
        except Refusal:
            continue  # not read yet, which its own row says
    best = min(sizes, key=lambda strategy: sizes[strategy], default=BASELINE)
    return None if best == BASELINE else best


def _on_a_device(question: Question) -> Question:
    return replace(question, capacity_bytes=None, device=DEVICE)


def _peak_with(question: Question, record: InspectionRecord, sequences: int) -> int:
    return Estimator.of(question, record, BASELINE, sequences).at(question.prompt_tokens).peak_bytes
