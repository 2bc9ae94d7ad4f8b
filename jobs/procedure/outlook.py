"""How a question looks before anything is loaded: what it needs, and what twice the context would."""

from dataclasses import dataclass, replace

from jobs.procedure.estimate import Estimator
from jobs.procedure.question import Question
from jobs.procedure.verdict import Bounds
from jobs.sizing.budgets import run_phases, weights_bytes
from jobs.sizing.kv import kv_bytes
from jobs.sizing.record import InspectionRecord, LayerKind, Phase
from jobs.sizing.stored import stays_packed
from jobs.sizing.strategy import BASELINE


@dataclass(frozen=True, kw_only=True)
class PhaseBudget:
    """What the device holds at the phase's largest, with the normal cache; all in bytes."""

    phase: Phase
    weights_bytes: int
    kv_prompt_bytes: int
    kv_answer_bytes: int
    working_bytes: int

    @property
    def total_bytes(self) -> int:
        return self.weights_bytes + self.kv_prompt_bytes + self.kv_answer_bytes + self.working_bytes


@dataclass(frozen=True, kw_only=True)
class Doubling:
    """Twice the context: each figure as a multiple of what it was, None where it was nothing.

    windowed, fixed: whether the model has layers that stop growing, or never grow.
    """

    kv: float | None
    working: float | None
    total: float
    windowed: bool
    fixed: bool


@dataclass(frozen=True, kw_only=True)
class Outlook:
    """With the normal cache. packed_weights_bytes: as the files (or the config) have them, where a run does not."""

    phases: tuple[PhaseBudget, ...]
    doubling: Doubling
    packed_weights_bytes: int | None

    @property
    def peak(self) -> PhaseBudget:
        return max(self.phases, key=lambda phase: phase.total_bytes)

    def fits(self, bounds: Bounds) -> bool:
        return self.peak.total_bytes <= bounds.budget_bytes


def outlook(question: Question, record: InspectionRecord) -> Outlook:
    """Raises Refusal("not_inspected") for a precision or a way of attention that no pass was made with."""
    packed = record.stored is not None and not stays_packed(record, question.device)
    return Outlook(
        phases=_phases(question, record),
        doubling=_doubling(question, record),
        packed_weights_bytes=weights_bytes(record, question.dtype) if packed else None,
    )


def _phases(question: Question, record: InspectionRecord) -> tuple[PhaseBudget, ...]:
    """Answering still holds the prompt's part of the cache, cut to their window by the layers that have one."""
    needs = run_phases(
        record,
        prompt_tokens=question.prompt_tokens,
        answer_tokens=question.answer_tokens,
        sequences=question.sequences,
        dtype=question.dtype,
        strategy=BASELINE,
        attention=question.attention,
    )
    weights = weights_bytes(record, question.dtype, as_stored=stays_packed(record, question.device))
    prompt_kv = kv_bytes(
        record,
        tokens=question.prompt_tokens,
        sequences=question.sequences,
        dtype=question.dtype,
        strategy=BASELINE,
    )
    kept = {Phase.PREFILL: needs[Phase.PREFILL].kv_bytes, Phase.DECODE: min(prompt_kv, needs[Phase.DECODE].kv_bytes)}
    return tuple(
        PhaseBudget(
            phase=phase,
            weights_bytes=weights,
            kv_prompt_bytes=kept[phase],
            kv_answer_bytes=needs[phase].kv_bytes - kept[phase],
            working_bytes=needs[phase].working_bytes,
        )
        for phase in Phase
    )


def _doubling(question: Question, record: InspectionRecord) -> Doubling:
    """The same answer behind a longer prompt, so that prompt and answer are twice as long together."""
    once = Estimator.of(question, record, BASELINE).at(question.prompt_tokens)
    prompt = 2 * question.context_tokens - question.answer_tokens
    twice = Estimator.of(replace(question, prompt_tokens=prompt), record, BASELINE).at(prompt)
    kinds = {group.kind for group in record.layers}
    return Doubling(
        kv=_times(once.kv_bytes, twice.kv_bytes),
        working=_times(once.working_bytes, twice.working_bytes),
        total=twice.peak_bytes / once.peak_bytes,
        windowed=LayerKind.WINDOWED in kinds,
        fixed=LayerKind.FIXED in kinds,
    )


def _times(once: int, twice: int) -> float | None:
    return twice / once if once else None
