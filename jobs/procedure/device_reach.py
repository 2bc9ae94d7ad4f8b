"""Which device a question needs: how far the normal cache reaches on each, and how many sequences it carries."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from jobs.procedure.estimate import Estimator
from jobs.procedure.question import Question
from jobs.procedure.question_check import MOST_SEQUENCES
from jobs.procedure.reach import Ends, Prompts
from jobs.procedure.verdict import Bounds
from jobs.sizing.record import InspectionRecord
from jobs.sizing.rising import Rising
from jobs.sizing.strategy import BASELINE

DEVICE = "cuda:0"  # all of them are: some packed weights stay packed there alone


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
    question = replace(question, capacity_bytes=None, device=DEVICE)
    at = Estimator.of(question, record, BASELINE).at
    prompts = Prompts(question, record, lambda prompt: at(prompt).peak_bytes)
    sequences = Rising(lambda count: _peak_with(question, record, count), most=MOST_SEQUENCES)

    def one(budget_bytes: int) -> DeviceReach:
        own = at(question.prompt_tokens)
        if own.weights_bytes >= budget_bytes:
            return DeviceReach(weights_fit=False, fits=False, context_tokens=None, ends=Ends.NOTHING, sequences=0)
        prompt, ends = prompts.longest_within(budget_bytes)
        return DeviceReach(
            weights_fit=True,
            fits=own.peak_bytes <= budget_bytes,
            context_tokens=None if prompt is None else prompt + question.answer_tokens,
            ends=ends,
            sequences=sequences.most_within(budget_bytes) or 0,
        )

    return tuple(one(Bounds.of(question, size).budget_bytes) for size in sizes)


def _peak_with(question: Question, record: InspectionRecord, sequences: int) -> int:
    return Estimator.of(question, record, BASELINE, sequences).at(question.prompt_tokens).peak_bytes
