"""The sizing curves as rows, for the plots: estimated, uncorrected, at a handful of contexts."""

from typing import Any

from jobs.procedure.contexts import MULTIPLE_TOKENS, down
from jobs.procedure.estimate import Estimator, is_inspected
from jobs.procedure.question import Question
from jobs.sizing.record import InspectionRecord
from jobs.sizing.strategy import BASELINE

POINTS = 12


def estimate_rows(question: Question, record: InspectionRecord, longest_prompt: int) -> list[dict[str, Any]]:
    """{"strategy", "context", "peak_bytes"} for the baseline and every strategy that the model was inspected with."""
    prompts = sorted({max(MULTIPLE_TOKENS, down(longest_prompt * part // POINTS)) for part in range(1, POINTS + 1)})
    return [
        {
            "strategy": str(strategy),
            "context": prompt + question.answer_tokens,
            "peak_bytes": estimator.at(prompt).peak_bytes,
        }
        for strategy in dict.fromkeys((BASELINE, *question.strategies))
        if is_inspected(question, record, strategy)
        for estimator in [Estimator.of(question, record, strategy)]
        for prompt in prompts
    ]
