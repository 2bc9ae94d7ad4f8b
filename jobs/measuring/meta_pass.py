"""One pass of a model on meta as generate() makes it: a prefill, in one shot or in chunks, and decode steps."""

import contextlib
from collections.abc import Iterator
from typing import Any

import torch
from transformers.cache_utils import Cache

from jobs.measuring.meta_cache import CountedStaticCache
from jobs.measuring.meta_kernels import cpu_kernels
from jobs.measuring.meta_storage import LiveStorage
from jobs.sizing.refusal import Refusal


class MetaPass:
    """A model with one cache being filled; `peak_bytes` counts from the last `start_phase`."""

    def __init__(self, model: Any, cache: Cache, *, sequences: int) -> None:
        self.model = model
        self.cache = cache
        self.sequences = sequences
        self.tokens = 0
        self.live = LiveStorage(model)
        self.extra = {"logits_to_keep": 1} if model._supports_logits_to_keep() else {}

    def run(self, tokens: int) -> None:
        """Feed so many tokens of each sequence in one forward, and choose the next token as generate() does.

        Raises Refusal("no_cache") for a model that answers without a cache.
        """
        first, self.tokens = self.tokens == 0, self.tokens + tokens
        with cpu_kernels(), torch.no_grad(), self.live:
            ids = torch.empty(self.sequences, tokens, dtype=torch.long, device="meta")
            mask = torch.empty(self.sequences, self.tokens, dtype=torch.long, device="meta")
            inputs = self.model.prepare_inputs_for_generation(
                ids, cache=self.cache, attention_mask=mask, use_cache=True, is_first_iteration=first, **self.extra
            )
            answer = self.model(**inputs, return_dict=True)
            if not isinstance(answer.get("cache"), Cache):
                raise no_cache(self.model)
            scores = answer.logits[:, -1].to(copy=True, dtype=torch.float32)
            del answer, inputs, scores
        if isinstance(self.cache, CountedStaticCache):
            self.cache.seen_tokens = self.tokens

    def peak_of(self, tokens: int) -> int:
        """Bytes alive at the worst moment of feeding so many tokens; weights not counted."""
        self.live.start_phase()
        self.run(tokens)
        return self.live.peak_bytes

    def prefill_peak(self, tokens: int, chunk_tokens: int | None) -> int:
        """The prefill's peak. Of a chunked one only the last chunks are run as such: they meet the fullest cache."""
        if chunk_tokens is None or tokens <= chunk_tokens:
            return self.peak_of(tokens)
        last = tokens % chunk_tokens or chunk_tokens
        whole = (tokens - last) // chunk_tokens
        if whole > 2:
            self.run((whole - 2) * chunk_tokens)
        peaks = [self.peak_of(chunk_tokens) for _ in range(min(whole, 2))]
        return max(peaks[-1], self.peak_of(last))


@contextlib.contextmanager
def flushed_early(cache: Cache) -> Iterator[None]:
    """Inside, a quantized cache quantizes its residual at the next step, as it does at every 128th."""
    layers = [layer for layer in cache.layers if hasattr(layer, "residual_length")]
    lengths = [layer.residual_length for layer in layers]
    for layer in layers:
        layer.residual_length = 1
    try:
        yield
    finally:
        for layer, length in zip(layers, lengths, strict=True):
            layer.residual_length = length


def no_cache(model: Any) -> Refusal:
    return Refusal(
        "no_cache",
        f"{type(model).__name__} keeps its state in a way of its own, not in a transformers Cache.",
        "Its memory cannot be sized here; choose another model.",
    )
