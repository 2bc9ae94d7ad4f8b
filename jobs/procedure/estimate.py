"""What sizing says about the question's run at any prompt."""

from dataclasses import dataclass, field

from jobs.procedure.question import Question
from jobs.sizing.budgets import RunPeak, run_peak
from jobs.sizing.record import InspectionRecord
from jobs.sizing.refusal import Refusal
from jobs.sizing.stored import stays_packed
from jobs.sizing.strategy import BASELINE, Strategy


@dataclass(frozen=True, kw_only=True)
class Estimator:
    """One strategy's estimates, each computed once; sequences defaults to the question's."""

    question: Question
    record: InspectionRecord
    strategy: Strategy
    sequences: int
    _known: dict[int, RunPeak] = field(default_factory=dict, repr=False)

    @classmethod
    def of(
        cls, question: Question, record: InspectionRecord, strategy: Strategy, sequences: int | None = None
    ) -> "Estimator":
        return cls(question=question, record=record, strategy=strategy, sequences=sequences or question.sequences)

    def at(self, prompt: int) -> RunPeak:
        if prompt not in self._known:
            self._known[prompt] = run_peak(
                self.record,
                prompt_tokens=prompt,
                answer_tokens=self.question.answer_tokens,
                sequences=self.sequences,
                dtype=self.question.dtype,
                strategy=self.strategy,
                attention=self.question.attention,
                as_stored=stays_packed(self.record, self.question.device),
            )
        return self._known[prompt]

    def peak_and_weights(self, prompt: int) -> tuple[int, int]:
        point = self.at(prompt)
        return point.peak_bytes, point.weights_bytes


def nearest_inspected(question: Question, record: InspectionRecord, strategy: Strategy) -> Strategy:
    """The strategy itself, else the same cache without chunks, else the baseline."""
    for candidate in (strategy, strategy.without_chunks):
        if is_inspected(question, record, candidate):
            return candidate
    return BASELINE


def is_inspected(question: Question, record: InspectionRecord, strategy: Strategy) -> bool:
    try:
        Estimator.of(question, record, strategy).at(question.prompt_tokens)
    except Refusal:
        return False
    return True
