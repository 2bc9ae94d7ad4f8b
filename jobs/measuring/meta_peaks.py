"""Working memory over a ladder of lengths, for one strategy, precision and number of sequences."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from jobs.measuring.meta_cache import make_cache
from jobs.measuring.meta_ladder import DECODED_TOKENS
from jobs.measuring.meta_pass import MetaPass, flushed_early
from jobs.sizing.kv import kv_bytes, kv_prefill_bytes
from jobs.sizing.layer_bytes import is_static
from jobs.sizing.record import InspectionRecord, PeakRung, Phase
from jobs.sizing.strategy import Strategy

MOST_OPERATIONS = 2000  # of one forward
MOST_CHUNKED = 200_000
"""Of all forwards of a chunked prefill: what it needs late, when the cache is full, does not follow from what it needs
early."""
LOOPING = 4
FLUSH_STEPS = 4
"""Decode steps of a quantized rung, the last of which quantizes anew: at a multiple of 4 tokens, as all do."""


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What the peaks of one ladder have in common. `record` holds the layers that the passes really run."""

    record: InspectionRecord
    strategy: Strategy
    dtype: str
    attention: str
    sequences: int
    table_bytes: int
    padded: bool = False

    def rung(self, phase: Phase, tokens: int, working: int) -> PeakRung:
        return PeakRung(
            phase=phase,
            strategy=str(self.strategy),
            dtype=self.dtype,
            attention=self.attention,
            sequences=self.sequences,
            tokens=tokens,
            working_bytes=max(0, working) + self.table_bytes,
            padded=self.padded,
        )

    def prefill_working(self, tokens: int, slots: int, peak: int) -> int:
        held = slots if is_static(self.strategy) else tokens
        cache = kv_prefill_bytes(
            self.record, tokens=held, sequences=self.sequences, dtype=self.dtype, strategy=self.strategy
        )
        return peak - cache

    def decode_working(self, tokens: int, answered: int, peak: int) -> int:
        cache = kv_bytes(
            self.record,
            tokens=tokens,
            sequences=self.sequences,
            dtype=self.dtype,
            strategy=self.strategy,
            answered_tokens=answered,
        )
        return peak - cache


def peak_rungs(model: Any, config: Any, setting: Setting, prompts: Sequence[int]) -> Iterator[PeakRung]:
    """A prefill and a decode rung for each prompt length; a chunked prefill is answered from as a plain one is.

    Models that loop over pieces of the prompt end early: the rungs above follow from those below.
    """
    fewest: float | None = None
    for prompt in prompts:
        one = MetaPass(
            model, _cache(config, setting.strategy, prompt), sequences=setting.sequences, padded=setting.padded
        )
        yield from _rungs(one, setting, prompt)
        each = one.live.operations / one.forwards
        fewest = fewest or each
        chunked = setting.strategy.chunk_tokens is not None
        if one.live.operations > MOST_CHUNKED if chunked else each > max(MOST_OPERATIONS, LOOPING * fewest):
            return


def _steps(strategy: Strategy) -> int:
    return FLUSH_STEPS if strategy.is_quantized else DECODED_TOKENS


def _cache(config: Any, strategy: Strategy, prompt: int) -> Any:
    return make_cache(config, strategy, slots=prompt + _steps(strategy))


def _rungs(one: MetaPass, setting: Setting, prompt: int) -> Iterator[PeakRung]:
    strategy, steps = setting.strategy, _steps(setting.strategy)
    end = prompt + steps
    peak = one.prefill_peak(prompt, strategy.chunk_tokens)
    yield setting.rung(Phase.PREFILL, prompt, setting.prefill_working(prompt, end, peak))
    if strategy.chunk_tokens is not None:
        return
    waiting = [one.peak_of(1) for _ in range(steps - 1)][-1]
    if not strategy.is_quantized:
        yield setting.rung(Phase.DECODE, end, setting.decode_working(end, steps, one.peak_of(1)))
        return
    with flushed_early(one.cache):
        flushing = setting.decode_working(end, 0, one.peak_of(1))
    yield setting.rung(Phase.DECODE, end, max(setting.decode_working(end - 1, steps - 1, waiting), flushing))


def over(record: InspectionRecord, indices: Sequence[int]) -> InspectionRecord:
    """The record of a model with only these layers, for the passes that skip the others."""
    layers = [replace(group, count=1) for group in record.layers for _ in range(group.count)]
    return replace(record, layers=tuple(layers[index] for index in indices))
