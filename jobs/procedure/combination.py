"""What a cache strategy and chunked prefill would need together, where only each of them was inspected."""

from jobs.procedure.estimate import Estimator, is_inspected
from jobs.procedure.question import Question
from jobs.sizing.kv import kv_bytes
from jobs.sizing.record import InspectionRecord, Phase
from jobs.sizing.refusal import Refusal
from jobs.sizing.strategy import Strategy
from jobs.sizing.working import working_bytes


def combined(plain: Strategy, chunk_tokens: int) -> Strategy:
    return Strategy(cache=plain.cache, backend=plain.backend, bits=plain.bits, chunk_tokens=chunk_tokens)


def combined_rise_bytes(question: Question, record: InspectionRecord, both: Strategy, prompt: int) -> int | None:
    """Predicted peak without the weights; None where not even the parts were inspected.

    A chunk reads the whole cache as an answer's token does, and works as a chunk over a normal cache does: the two
    working memories are added, which is a little more than they take.
    """
    if is_inspected(question, record, both):
        peak, weights = Estimator.of(question, record, both).peak_and_weights(prompt)
        return peak - weights
    tokens = prompt + question.answer_tokens - 1
    try:
        working = _working(question, record, Strategy(chunk_tokens=both.chunk_tokens), Phase.PREFILL, tokens)
        working += _working(question, record, both.without_chunks, Phase.DECODE, tokens)
    except Refusal:
        return None
    return working + kv_bytes(record, tokens=tokens, sequences=question.sequences, dtype=question.dtype, strategy=both)


def _working(question: Question, record: InspectionRecord, strategy: Strategy, phase: Phase, tokens: int) -> int:
    return working_bytes(
        record,
        phase=phase,
        tokens=tokens,
        sequences=question.sequences,
        dtype=question.dtype,
        strategy=strategy,
        attention=question.attention,
    )
