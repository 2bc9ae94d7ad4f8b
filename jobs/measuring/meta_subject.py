"""A model under inspection: built per precision, its layers read, and its peaks taken over few of them."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import torch
from transformers import DynamicCache

from jobs.measuring.library_errors import LIBRARY_ERRORS
from jobs.measuring.meta_cache import layer_tensors, storage_bytes
from jobs.measuring.meta_ladder import ladder
from jobs.measuring.meta_layers import grouped, is_state, read_layers, with_prompts
from jobs.measuring.meta_model import build_model
from jobs.measuring.meta_pass import MetaPass, no_cache
from jobs.measuring.meta_peaks import FLUSH_STEPS, Setting, over, peak_rungs
from jobs.measuring.meta_thin import AnswerShapes, find_stack, kept_layers, module_kind, thinned
from jobs.measuring.meta_weights import table_bytes
from jobs.measuring.native_context import native_context
from jobs.sizing.kv import kv_prefill_bytes
from jobs.sizing.model_spec import ModelSpec
from jobs.sizing.record import InspectionRecord, LayerGroup, PeakRung
from jobs.sizing.strategy import BASELINE, Strategy

READ_DTYPE = "bfloat16"
"""Layers are read in this precision: states that stay in float32 show only beside a narrower one."""
THIN_ERROR = 0.001
"""What a pass over few layers may be off: layers hold counters of a few bytes beside their cache."""
SHORT_TOKENS, LONG_TOKENS = 519, 1030
"""Lengths that layers are read at: no multiples of a stride, and the longer leaves fewer tokens behind its last."""


@dataclass(frozen=True, kw_only=True)
class Filled:
    """A dynamic cache of one sequence after a prefill and a decode step; bytes of storages after the prefill."""

    tokens: int
    tensors: list[dict[str, torch.Tensor]]
    windows: list[int | None]
    prompt_bytes: list[int]
    prefill_peak_bytes: int


class Subject:
    """Lazy: each precision's model is built once, the layers are read from the first pass."""

    def __init__(self, spec: ModelSpec, config: Any, attention: str) -> None:
        self.spec = spec
        self.config = config
        self.attention = attention
        self._models: dict[str, Any] = {}
        self._shapes: dict[int, tuple[bool, int]] = {}
        self._whole_peak_bytes = 0
        self._few: tuple[int, ...] | None = None

    def model(self, dtype: str) -> Any:
        if dtype not in self._models:
            self._models[dtype] = self.new_model(dtype)
        return self._models[dtype]

    def new_model(self, dtype: str) -> Any:
        """One that may be changed."""
        return build_model(self.spec, self.config, dtype=getattr(torch, dtype), attention=self.attention)

    @cached_property
    def text_config(self) -> Any:
        """The decoder's own config, within a model that also sees or hears."""
        return self.model(READ_DTYPE).config.get_text_config(decoder=True)

    @cached_property
    def lengths(self) -> tuple[int, int]:
        """The two lengths to read layers at; both within what the config allows."""
        native = native_context(self.text_config, {}) or LONG_TOKENS
        if native >= LONG_TOKENS:
            return SHORT_TOKENS, LONG_TOKENS
        return max(2, (native - 1) // 2), max(3, native - 3)

    @cached_property
    def layers(self) -> tuple[LayerGroup, ...]:
        """What the cache's layers hold: from one prefill and decode step, or from two where one tells too little."""
        model = self.model(READ_DTYPE)
        if not model.can_generate() or not model._supports_default_dynamic_cache():
            raise no_cache(model)
        answers = AnswerShapes(find_stack(model, len(DynamicCache(config=self.text_config).layers)))
        short_tokens, long_tokens = self.lengths
        with answers.watch():
            short = self._filled(model, short_tokens)
        self._shapes = answers.seen
        self._whole_peak_bytes = short.prefill_peak_bytes
        known = all(is_state(path) for tensors in short.tensors for path in tensors)
        long = short if known else self._filled(model, long_tokens)
        layers = read_layers(
            short.tensors,
            long.tensors,
            short_tokens=short.tokens,
            long_tokens=long.tokens,
            windows=short.windows,
        )
        if not known:
            layers = with_prompts(layers, short.prompt_bytes, long.prompt_bytes, (short.tokens - 1, long.tokens - 1))
        return grouped(layers)

    def _filled(self, model: Any, tokens: int) -> "Filled":
        cache = DynamicCache(config=self.text_config)
        one = MetaPass(model, cache, sequences=1)
        peak = one.peak_of(tokens - 1)
        prompt_bytes = [storage_bytes(layer) for layer in cache.layers]
        one.run(1)
        return Filled(
            tokens=tokens,
            tensors=[layer_tensors(layer) for layer in cache.layers],
            windows=[getattr(layer, "sliding_window", None) for layer in cache.layers],
            prompt_bytes=prompt_bytes,
            prefill_peak_bytes=peak,
        )

    def peaks(
        self,
        record: InspectionRecord,
        strategy: Strategy,
        dtype: str,
        sequences: Sequence[int],
        tokens: Sequence[int],
        padded: Sequence[bool],
    ) -> list[PeakRung]:
        """Working memory of the strategy at each number of sequences, over a ladder of lengths."""
        model = self.model(dtype)
        kept = self._kept(record)
        stack = find_stack(model, sum(group.count for group in record.layers))
        prompts = self._runnable(model, ladder(tokens, record.layers, strategy))
        rungs: list[PeakRung] = []
        with thinned(stack, set(kept), self._shapes):
            for count, is_padded in itertools.product(sequences, padded):
                setting = Setting(
                    record=over(record, kept),
                    strategy=strategy,
                    dtype=dtype,
                    attention=self.attention,
                    sequences=count,
                    table_bytes=table_bytes(model),
                    padded=is_padded,
                )
                rungs += peak_rungs(model, self.text_config, setting, prompts)
        return rungs

    def _runnable(self, model: Any, prompts: Sequence[int]) -> Sequence[int]:
        """The prompts that the model's own code runs: some make tables of their native length and fail beyond it.

        What lies above is reckoned on from the rungs below.
        """
        native = native_context(self.text_config, {})
        if native is None or max(prompts) <= native:
            return prompts
        try:
            MetaPass(model, DynamicCache(config=self.text_config), sequences=1).run(native + 1)
        except LIBRARY_ERRORS:
            return [prompt for prompt in prompts if prompt + FLUSH_STEPS <= native]
        return prompts

    def _kept(self, record: InspectionRecord) -> tuple[int, ...]:
        """The layers that are run: a few that need as much working memory as the whole model does, else all."""
        if self._few is None:
            self._few = self._enough(record)
        return self._few

    def _enough(self, record: InspectionRecord) -> tuple[int, ...]:
        groups = [group for group in record.layers for _ in range(group.count)]
        everything = tuple(range(len(groups)))
        model = self.model(READ_DTYPE)
        stack = find_stack(model, len(groups))
        if stack is None or len(self._shapes) < len(groups):
            return everything
        kinds = [(module_kind(module), replace(group, count=1)) for module, group in zip(stack, groups, strict=True)]
        few = tuple(sorted(kept_layers(kinds)))
        with thinned(stack, set(few), self._shapes):
            thin = MetaPass(model, DynamicCache(config=self.text_config), sequences=1)
            peak = thin.peak_of(self.lengths[0] - 1)
        skipped = self._prefill_kv(record) - self._prefill_kv(over(record, few))
        return (
            few if abs(peak + skipped - self._whole_peak_bytes) <= THIN_ERROR * self._whole_peak_bytes else everything
        )

    def _prefill_kv(self, record: InspectionRecord) -> int:
        return kv_prefill_bytes(record, tokens=self.lengths[0] - 1, sequences=1, dtype=READ_DTYPE, strategy=BASELINE)
