"""The next-token distributions of a given text under a strategy's cache, as generate() would have made and fed it."""

from collections.abc import Iterator
from typing import Any

import torch

from jobs.measuring.cache_bytes import cache_caught, cache_keyword
from jobs.measuring.settings import generation_config
from jobs.procedure.contexts import down
from jobs.sizing.strategy import Strategy

PIECE_TOKENS = 32
"""Divides the residual window of 128, so that history is quantized again at the same tokens as one at a time.

Within a piece tokens see one another unquantized, as they do in the residual window; docs/measured.md compares."""


def prompt_tokens(context_tokens: int, scored_tokens: int) -> int:
    """What is prefilled: the scored tokens and the one before them, whose successor is scored first, come after it."""
    return down(context_tokens - scored_tokens - 1)


def forced(model: Any, strategy: Strategy, ids: torch.Tensor, *, scored_tokens: int) -> Iterator[torch.Tensor]:
    """ids: [1, context] on the model's device. Yields log-probabilities [tokens ≤ 32, vocabulary], float32, of the
    tokens from `prompt_tokens` + 1 on, `scored_tokens` in all. Whatever the model raises comes through.
    """
    first = prompt_tokens(ids.shape[1], scored_tokens)
    cache = _prefilled(model, strategy, ids[:, :first])
    given = {cache_keyword(model): cache}
    for at in range(first, first + scored_tokens, PIECE_TOKENS):
        end = min(at + PIECE_TOKENS, first + scored_tokens)
        with torch.inference_mode():
            output = model(ids[:, at:end], attention_mask=torch.ones_like(ids[:, :end]), use_cache=True, **given)
            log_probabilities = torch.log_softmax(output.logits[0].float(), dim=-1)
        del output
        yield log_probabilities


def _prefilled(model: Any, strategy: Strategy, prompt_ids: torch.Tensor) -> Any:
    """The cache that generate() makes of the settings, filled by its own prefill."""
    found: list[Any] = []
    with cache_caught(model, found.append), torch.inference_mode():
        model.generate(
            prompt_ids,
            attention_mask=torch.ones_like(prompt_ids),
            generation_config=generation_config(strategy, answer_tokens=1),
        )
    return found[0]
