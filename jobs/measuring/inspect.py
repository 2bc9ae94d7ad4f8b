"""A model's inspection: its own code run once on the meta device, and what that told, as a record."""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch

from jobs.measuring.config_hash import config_hash
from jobs.measuring.hub_source import commit_of
from jobs.measuring.inspect_strategies import strategy_refusals
from jobs.measuring.libraries import versions
from jobs.measuring.library_errors import LIBRARY_ERRORS
from jobs.measuring.meta_model import broken, build_config, config_fields, first_line, own_code_fails
from jobs.measuring.meta_subject import READ_DTYPE, Subject
from jobs.measuring.meta_weights import parameters, weights_bytes
from jobs.measuring.native_context import native_context
from jobs.measuring.stored_weights import packed_on_the_fly, stored_weights
from jobs.measuring.weight_source import draws_random_weights
from jobs.sizing.budgets import refusal_of
from jobs.sizing.model_spec import ModelSpec
from jobs.sizing.record import InspectionRecord, PeakRung, Phase
from jobs.sizing.strategy import BASELINE, Strategy
from jobs.sizing.units import dtype_bytes
from jobs.sizing.working import rung_name


@dataclass(frozen=True, kw_only=True)
class Passes:
    """What the peaks are taken of, beside the precision and the strategy.

    padded: sequences as long as each other (False), filled up on the left (True), or both.
    """

    sequences: tuple[int, ...]
    tokens: tuple[int, ...]
    padded: tuple[bool, ...] = (False,)


def inspect_model_spec(
    spec: ModelSpec,
    *,
    dtypes: Sequence[str],
    sequences: Sequence[int],
    tokens: Sequence[int],
    strategies: Sequence[str],
    attention: str = "sdpa",
    padded: Sequence[bool] = (False,),
    tell: Callable[[str], None] = lambda text: None,
) -> InspectionRecord:
    """Build the model on meta, fill caches, and record layers, weights and peaks.

    Raises Refusal: unknown_model_type, needs_remote_code, no_config, broken_config, no_cache, missing_weights,
    broken_weights, split_gguf, offline, gated, model_not_found, bad_token, unknown_strategy, unknown_dtype.
    """
    return Inspection(spec, attention=attention, tell=tell).record(
        dtypes=dtypes, sequences=sequences, tokens=tokens, strategies=strategies, padded=padded, tell=tell
    )


class Inspection:
    """One model: built and its layers read once, then asked for as many records as are wanted.

    Raises Refusal as `inspect_model_spec` does.
    """

    def __init__(self, spec: ModelSpec, *, attention: str, tell: Callable[[str], None]) -> None:
        self._spec = spec
        self._attention = attention
        try:
            self._fields = config_fields(spec)
            tell("Building the model without its weights.")
            self._subject = Subject(spec, build_config(spec, self._fields), attention)
        except LIBRARY_ERRORS as error:  # metadata of the wrong kind, a config nested too deep
            raise broken(spec, f"{type(error).__name__}: {first_line(error)}") from error
        self._rungs: dict[tuple[str, Strategy, Passes], list[PeakRung]] = {}

    def is_of(self, spec: ModelSpec, attention: str) -> bool:
        return (self._spec, self._attention) == (spec, attention)

    def record(
        self,
        *,
        dtypes: Sequence[str],
        sequences: Sequence[int],
        tokens: Sequence[int],
        strategies: Sequence[str],
        padded: Sequence[bool] = (False,),
        tell: Callable[[str], None] = lambda text: None,
    ) -> InspectionRecord:
        """What was passed for an earlier record is not passed again."""
        chosen = _rung_strategies([Strategy.parse(text) for text in strategies])
        for dtype in dtypes:
            dtype_bytes(dtype)
        passes = Passes(sequences=tuple(sequences), tokens=tuple(tokens), padded=tuple(padded))
        try:
            return self._with_peaks(self._record(dtypes), dtypes, chosen, passes, tell)
        except LIBRARY_ERRORS as error:
            raise own_code_fails(self._spec, error) from error

    def _record(self, dtypes: Sequence[str]) -> InspectionRecord:
        spec, subject = self._spec, self._subject
        model = subject.model(READ_DTYPE)
        unpacked_bytes = {
            dtype: weights_bytes(subject.model(dtype), getattr(torch, dtype)) for dtype in (READ_DTYPE, *dtypes)
        }
        if not parameters(model) or not subject.layers:
            raise broken(spec, "it makes a model without " + ("layers" if parameters(model) else "weights"))
        return InspectionRecord(
            model=spec.name,
            model_type=str(self._fields["model_type"]),
            architecture=type(model).__name__,
            config_hash=config_hash(subject.config),
            versions=versions() | commit_of(spec),
            parameters=parameters(model),
            weights_bytes=unpacked_bytes,
            native_context=native_context(subject.text_config, self._fields),
            vocabulary=int(subject.text_config.vocab_size),
            layers=subject.layers,
            rungs=(),
            refusals=strategy_refusals(subject.text_config, subject.layers),
            stored=stored_weights(spec, subject.config, model, unpacked_bytes, subject.new_model),
            random_weights=draws_random_weights(spec),
            on_the_fly=packed_on_the_fly(spec, subject.config, unpacked_bytes, subject.new_model),
        )

    def _with_peaks(
        self,
        record: InspectionRecord,
        dtypes: Sequence[str],
        strategies: Sequence[Strategy],
        passes: Passes,
        tell: Callable[[str], None],
    ) -> InspectionRecord:
        rungs: list[PeakRung] = []
        refusals = dict(record.refusals)
        for dtype, strategy in itertools.product(dtypes, strategies):
            if refusal_of(replace(record, refusals=refusals), strategy):
                continue
            tell(f"Sizing {strategy.label} in {dtype}.")
            try:
                rungs += self._peaks(record, dtype, strategy, passes)
            except LIBRARY_ERRORS as error:
                if strategy == BASELINE:
                    raise
                refusals[str(strategy)] = (
                    f"The model's own code fails with it ({type(error).__name__}: {first_line(error)})."
                )
        return replace(record, rungs=tuple(rungs), refusals=refusals)

    def _peaks(self, record: InspectionRecord, dtype: str, strategy: Strategy, passes: Passes) -> list[PeakRung]:
        asked = (dtype, strategy, passes)
        if asked not in self._rungs:
            self._rungs[asked] = self._subject.peaks(
                record, strategy, dtype, passes.sequences, passes.tokens, passes.padded
            )
        return self._rungs[asked]


def _rung_strategies(chosen: Sequence[Strategy]) -> list[Strategy]:
    """The strategies whose passes serve those chosen, and the baseline, which everything is compared with."""
    names = {rung_name(strategy, phase): None for strategy in (BASELINE, *chosen) for phase in Phase}
    return [Strategy.parse(name) for name in names]
