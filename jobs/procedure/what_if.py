"""What if: other contexts, sequences, headroom and capacities, answered at once from a finished run's curves.

Every figure here is predicted. The curve is the sizing's, corrected by the run's own measurements; its band is the
error that is to be expected of it, and nothing in it was measured.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from math import log2

from jobs.procedure.contexts import MULTIPLE_TOKENS, down
from jobs.procedure.curve import Correction, Curve
from jobs.procedure.estimate import Estimator, nearest_inspected
from jobs.procedure.measurement import Measurement
from jobs.procedure.question import Question
from jobs.procedure.reach import Ends, Prompts
from jobs.procedure.verdict import headroom_bytes
from jobs.sizing.kv import host_bytes
from jobs.sizing.record import InspectionRecord
from jobs.sizing.strategy import BASELINE, Strategy
from jobs.sizing.units import MIB

NOISE_BYTES = MIB  # of one reading
# Of what lies beyond the weights: how far the estimates were from the peaks in docs/measured.md.
ONE_SEQUENCE_PART, SEVERAL_SEQUENCES_PART, QUANTIZED_PART = 0.015, 0.03, 0.05
MOST_PART = 0.5


class Fit(StrEnum):
    YES = "yes"  # even at the band's upper end
    NO = "no"  # not even at its lower end
    UNSURE = "unsure"
    BEYOND = "beyond"  # whatever it needs, it is more than the model reads


@dataclass(frozen=True, kw_only=True)
class Conditions:
    """prompt_tokens and sequences as in a Question; capacity_bytes of the device, of which a part is kept free."""

    prompt_tokens: int
    sequences: int
    headroom_percent: float
    capacity_bytes: int

    @property
    def budget_bytes(self) -> int:
        return self.capacity_bytes - headroom_bytes(self.capacity_bytes, self.headroom_percent)


@dataclass(frozen=True, kw_only=True)
class Predicted:
    """One strategy under the conditions; contexts are prompt + answer, in tokens.

    sure_context: the longest that fits even at the band's upper end; likely_context: the longest that fits on the curve
    itself; None where not even the shortest does. host_bytes: the CPU RAM at the prompt asked for.
    """

    strategy: Strategy
    peak_bytes: int
    band_bytes: int
    fit: Fit
    sure_context: int | None
    likely_context: int | None
    ends: Ends
    host_bytes: int


@dataclass(frozen=True, kw_only=True)
class Finished:
    """What a finished run left behind. weights_bytes: as loaded; capacity_bytes: what its runs were held to."""

    question: Question
    record: InspectionRecord
    weights_bytes: int
    capacity_bytes: int
    measurements: Sequence[Measurement]
    strategies: Sequence[Strategy]
    _learned: dict[Strategy, "Learned"] = field(init=False, default_factory=dict, repr=False, compare=False)

    def what_if(self, conditions: Conditions) -> list[Predicted]:
        """One row for each strategy that ran, the normal cache first."""
        return [_predicted(self.learned(strategy), conditions) for strategy in (BASELINE, *self.strategies)]

    def learned(self, strategy: Strategy) -> "Learned":
        if strategy not in self._learned:
            self._learned[strategy] = Learned(finished=self, strategy=strategy)
        return self._learned[strategy]


@dataclass(frozen=True, kw_only=True)
class Learned:
    """What a run taught of one strategy."""

    finished: Finished
    strategy: Strategy
    _estimators: dict[int, Estimator] = field(init=False, default_factory=dict, repr=False, compare=False)
    _needs: dict[tuple[int, int], tuple[int, int]] = field(init=False, default_factory=dict, repr=False, compare=False)

    def needs(self, prompt: int, sequences: int) -> tuple[int, int]:
        """Peak and band, remembered: neither a capacity nor a headroom changes them."""
        at = prompt, sequences
        if at not in self._needs:
            self._needs[at] = self.peak_bytes(prompt, sequences), self.band_bytes(prompt, sequences)
        return self._needs[at]

    @cached_property
    def curve(self) -> Curve:
        """At the run's own number of sequences."""
        finished = self.finished
        borrowed = Correction() if self.strategy == BASELINE else finished.learned(BASELINE).curve.correction
        return Curve.learned(
            [m for m in finished.measurements if m.strategy == str(self.strategy)],
            estimate=self.estimator(finished.question.sequences).peak_and_weights,
            weights_bytes=finished.weights_bytes,
            capacity_bytes=finished.capacity_bytes,
            borrowed=borrowed,
        )

    def estimator(self, sequences: int) -> Estimator:
        """By their number, once: it remembers each prompt that it was asked about."""
        if sequences not in self._estimators:
            question, record = self.finished.question, self.finished.record
            nearest = nearest_inspected(question, record, self.strategy)
            self._estimators[sequences] = Estimator.of(question, record, nearest, sequences)
        return self._estimators[sequences]

    def peak_bytes(self, prompt: int, sequences: int) -> int:
        """Through the measured points at the run's number of sequences; at another, by their correction alone."""
        if sequences == self.finished.question.sequences:
            return self.curve.peak_bytes(prompt)
        peak, weights = self.estimator(sequences).peak_and_weights(prompt)
        return self.finished.weights_bytes + round(self.curve.correction.of(peak - weights))

    def band_bytes(self, prompt: int, sequences: int) -> int:
        """How far the truth may lie to either side.

        A part of the rise: what the estimates were found to be off by, or what this run's own points would have been
        off by had each been predicted from the others; as much again with each doubling beyond what was measured, of
        the prompt or of the number of sequences.
        """
        if prompt in self.measured(sequences):
            return NOISE_BYTES
        rise = max(0, self.peak_bytes(prompt, sequences) - self.finished.weights_bytes)
        part = max(self._usual_part(sequences), self._own_part)
        return NOISE_BYTES + round(min(MOST_PART, part * self._doubt(prompt, sequences)) * rise)

    def measured(self, sequences: int) -> Collection[int]:
        """The prompts that this run measured with as many sequences: surer than what lies around them."""
        return self.curve.seen if sequences == self.finished.question.sequences else ()

    def _usual_part(self, sequences: int) -> float:
        if self.strategy.is_quantized:
            return QUANTIZED_PART
        return ONE_SEQUENCE_PART if sequences == 1 else SEVERAL_SEQUENCES_PART

    @cached_property
    def _own_part(self) -> float:
        return max(self._misses(), default=0.0)

    def _misses(self) -> Iterator[float]:
        """Each measured point's distance from what the others predict, as a part of its rise."""
        seen, weights = self.curve.seen, self.finished.weights_bytes
        for prompt, peak in seen.items():
            others = {other: bytes_ for other, bytes_ in seen.items() if other != prompt}
            if others and peak > weights + NOISE_BYTES:
                miss = abs(replace(self.curve, seen=others).peak_bytes(prompt) - peak) - NOISE_BYTES
                yield max(0, miss) / (peak - weights)

    def _doubt(self, prompt: int, sequences: int) -> float:
        longest = max(self.curve.seen, default=prompt)
        return 1 + max(0.0, log2(prompt / longest)) + abs(log2(sequences / self.finished.question.sequences))


def _predicted(learned: Learned, conditions: Conditions) -> Predicted:
    finished, sequences = learned.finished, conditions.sequences
    prompt = max(MULTIPLE_TOKENS, down(conditions.prompt_tokens))
    peak, band = learned.needs(prompt, sequences)
    likely, ends = _longest(learned, conditions, with_band=False)
    sure, _ = _longest(learned, conditions, with_band=True)
    return Predicted(
        strategy=learned.strategy,
        peak_bytes=peak,
        band_bytes=band,
        fit=fit_of(
            finished,
            conditions.prompt_tokens + finished.question.answer_tokens,
            needed=(peak, band),
            budget_bytes=conditions.budget_bytes,
        ),
        sure_context=sure,
        likely_context=likely,
        ends=ends,
        host_bytes=host_bytes(
            finished.record,
            tokens=prompt + finished.question.answer_tokens - 1,
            sequences=sequences,
            dtype=finished.question.dtype,
            strategy=learned.strategy,
        ),
    )


def _longest(learned: Learned, conditions: Conditions, *, with_band: bool) -> tuple[int | None, Ends]:
    question, sequences = learned.finished.question, conditions.sequences

    def needed_bytes(prompt: int) -> int:
        peak, band = learned.needs(prompt, sequences)
        return peak + band if with_band else peak

    prompt, ends = Prompts(question, learned.finished.record, needed_bytes).longest_within(conditions.budget_bytes)
    known = (*learned.measured(sequences), *([] if prompt is None else [prompt]))
    longest = max((prompt for prompt in known if needed_bytes(prompt) <= conditions.budget_bytes), default=None)
    return (None if longest is None else longest + question.answer_tokens), ends


def fit_of(finished: Finished, context_tokens: int, *, needed: tuple[int, int], budget_bytes: int) -> Fit:
    """needed: peak and band, in bytes."""
    native = finished.record.native_context
    if native is not None and context_tokens > native:
        return Fit.BEYOND
    peak_bytes, band_bytes = needed
    if peak_bytes + band_bytes <= budget_bytes:
        return Fit.YES
    return Fit.NO if peak_bytes - band_bytes > budget_bytes else Fit.UNSURE
