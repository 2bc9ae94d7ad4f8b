"""One pass of a model on meta as generate() makes it: a prefill, in one shot or in chunks, and decode steps."""

import contextlib
import inspect
from collections.abc import Iterator
from typing import Any

import torch
from transformers.cache_utils import Cache

from jobs.measuring.cache_bytes import cache_keyword
from jobs.measuring.meta_cache import CountedStaticCache
from jobs.measuring.meta_kernels import cpu_kernels
from jobs.measuring.meta_storage import LiveStorage
from jobs.sizing.refusal import Refusal


class MetaPass:
    """A model with one cache being filled; the peaks count from the last `start_phase`.

    padded: the sequences are of unequal lengths and filled up on the left, so that a mask goes with every forward;
    without padding generate() drops the mask before the first one.
    """

    def __init__(self, model: Any, cache: Cache, *, sequences: int, padded: bool = False) -> None:
        self.model = model
        self.cache = cache
        self.sequences = sequences
        self.padded = padded
        self.tokens = 0
        self.live = LiveStorage(model)
        self.extra = {"logits_to_keep": 1} if model._supports_logits_to_keep() else {}
        self.forwards = 0
        self._keyword = cache_keyword(model)
        self._ids: Any = None
        self._prompt: Any = None
        self._given_mask: torch.Tensor | None = None
        self._inputs: dict[str, torch.Tensor] = {}
        self._answer: Any = None

    def run(self, tokens: int) -> None:
        """Feed so many tokens of each sequence: the whole prompt at first, then the answer's.

        Raises Refusal("no_cache") for a model that answers without a cache.
        """
        with cpu_kernels(padded=self.padded), torch.no_grad(), self.live:
            if self._ids is None:
                self._begin(tokens)
            self._forward(tokens)
            self._choose()

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
        with cpu_kernels(padded=self.padded), torch.no_grad(), self.live:
            self._begin(tokens)
            # Fed at once, the first chunks leave whole storages behind a window; one real chunk more lets go of them.
            if whole > 2:
                self._forward((whole - 2) * chunk_tokens)
            if whole > 1:
                self._forward(chunk_tokens)
            self.live.start_phase()
            self._forward(chunk_tokens)
            self._forward(last)
            self._choose()
        return self.live.peak_bytes

    def _begin(self, prompt_tokens: int) -> None:
        """What generate() holds on to beside the cache: the ids, their positions, and a mask where one is needed."""
        self._ids = self._prompt = torch.empty(self.sequences, prompt_tokens, dtype=torch.long, device="meta")
        self.live.leave_out(self._prompt)  # the caller's own, there before
        self._given_mask = torch.empty(self.sequences, prompt_tokens, dtype=torch.long, device="meta")
        if "position_ids" in inspect.signature(self.model.forward).parameters:
            asked = {"attention_mask": self._given_mask}
            self._inputs["position_ids"] = self.model._prepare_position_ids_for_generation(self._ids, asked)
        if self.padded:
            self._inputs["attention_mask"] = self._given_mask

    def _forward(self, tokens: int) -> None:
        """One forward; what the one before answered is alive meanwhile where generate() has not dropped it yet."""
        self.forwards += 1
        first, start, self.tokens = self.tokens == 0, self.tokens, self.tokens + tokens
        given = {name: tensor[..., : self.tokens] for name, tensor in self._inputs.items()}
        if "position_ids" in given:
            given["position_ids"] = given["position_ids"][..., start:]
        inputs = self.model.prepare_inputs_for_generation(
            self._ids[:, start : self.tokens],
            use_cache=True,
            is_first_iteration=first,
            **{self._keyword: self.cache},
            **given,
            **self.extra,
        )
        self._answer = self.model(**inputs, return_dict=True)
        if not isinstance(self._answer.get(self._keyword), Cache):
            raise no_cache(self.model)
        if isinstance(self.cache, CountedStaticCache):
            self.cache.seen_tokens = self.tokens

    def _choose(self) -> None:
        """The next token from the last position's logits, copied in float32, and all that grows with it."""
        # Where a model sees, a token has several positions: [axes, sequences, tokens].
        grown = {name: torch.cat([tensor, tensor[..., -1:] + 1], -1) for name, tensor in self._inputs.items()}
        scores = self._answer.logits[:, -1].to(copy=True, dtype=torch.float32)
        chosen = torch.argmax(scores, dim=-1)
        self._ids = torch.cat([self._ids, chosen[:, None]], dim=-1)
        self._inputs, self._answer = grown, None


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
