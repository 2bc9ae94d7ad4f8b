"""Which device a question needs: how far the normal cache reaches on each, and how many sequences it carries."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache

from jobs.procedure.estimate import Estimator
from jobs.procedure.question import Question
from jobs.procedure.question_check import MOST_SEQUENCES
from jobs.procedure.reach import Ends, longest_within
from jobs.procedure.verdict import Bounds
from jobs.sizing.longest import most_fitting
from jobs.sizing.record import InspectionRecord
from jobs.sizing.strategy import BASELINE


@dataclass(frozen=True, kw_only=True)
class DeviceReach:
    """context_tokens: of each of the question's sequences; sequences: of the question's own prompt and answer, at once.

    fits: the question's sequences, prompt and answer do.
    """

    weights_fit: bool
    fits: bool
    context_tokens: int | None
    ends: Ends
    sequences: int


def device_reaches(question: Question, record: InspectionRecord, sizes: Iterable[int]) -> tuple[DeviceReach, ...]:
    """For devices of so many bytes, with the question's headroom kept free on each.

    The devices are searched together, so that each length and each number of sequences is sized once for all of them.
    Raises Refusal("not_inspected").
    """
    question = replace(question, capacity_bytes=None)  # each device's own
    estimator = Estimator.of(question, record, BASELINE)

    @cache
    def peak_with(sequences: int) -> int:
        return Estimator.of(question, record, BASELINE, sequences).at(question.prompt_tokens).peak_bytes

    def one(budget_bytes: int) -> DeviceReach:
        own = estimator.at(question.prompt_tokens)
        if own.weights_bytes >= budget_bytes:
            return DeviceReach(weights_fit=False, fits=False, context_tokens=None, ends=Ends.NOTHING, sequences=0)
        prompt, ends = longest_within(question, record, lambda tokens: estimator.at(tokens).peak_bytes <= budget_bytes)
        return DeviceReach(
            weights_fit=True,
            fits=own.peak_bytes <= budget_bytes,
            context_tokens=None if prompt is None else prompt + question.answer_tokens,
            ends=ends,
            sequences=most_fitting(lambda count: peak_with(count) <= budget_bytes, MOST_SEQUENCES) or 0,
        )

    return tuple(one(Bounds.of(question, size).budget_bytes) for size in sizes)
