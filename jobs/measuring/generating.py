"""One call of generate(), with its clocks and its cache read at the end of the prompt and at the end of the answer."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from transformers import GenerationConfig, StoppingCriteriaList

from jobs.measuring.cache_bytes import cache_caught, held_bytes, used_bytes
from jobs.measuring.timing import StopAfter, Stopwatch, TokenClock

WARM_TOKENS = 2  # the prompt and one decode step: every shape that the measurement will meet


class Memory(Protocol):
    """A device's memory: see cpu_memory and cuda_memory."""

    kind: str

    def start(self) -> None: ...

    def peak_bytes(self) -> int: ...

    def host_bytes(self, cache_bytes: int) -> int: ...

    def note_cache(self, cache: Any) -> None: ...

    def synchronise(self) -> None: ...


@dataclass(frozen=True, kw_only=True)
class Pass:
    """What one call told. Bytes on the device but host_bytes; None for KV where the model returns no cache."""

    peak_bytes: int
    kv_at_peak_bytes: int | None
    kv_bytes: int | None
    kv_prefill_bytes: int | None
    host_bytes: int | None
    ttft_s: float
    decode_tokens_per_s: float | None
    intervals_s: tuple[float, ...]
    total_s: float


class EndedEarly(RuntimeError):
    """generate() gave fewer tokens than it was asked for: its figures would be of a shorter answer."""


class _Reading:
    """The cache that the model made, and what was read at the first token."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self.cache: Any = None
        self.kv_prefill_bytes: int | None = None
        self.prefill_peak_bytes = 0

    def keep(self, cache: Any) -> None:
        self.cache = cache

    def at_first_token(self) -> None:
        if self.cache is not None:
            self.kv_prefill_bytes = held_bytes(self.cache, on=self._memory.kind)
        self.prefill_peak_bytes = self._memory.peak_bytes()


def short_peak_bytes(
    model: Any, config: GenerationConfig, prompt_ids: torch.Tensor, *, memory: Memory, stopwatch: Stopwatch
) -> int:
    """The measurement's own call, ended after two tokens: it warms every shape, and has a peak of its own."""
    stop = StoppingCriteriaList([StopAfter(WARM_TOKENS, prompt_tokens=prompt_ids.shape[1])])
    memory.start()
    with stopwatch.running():
        _generate(model, config, prompt_ids, stopping_criteria=stop)
        memory.synchronise()
    return memory.peak_bytes()


def measured(
    model: Any,
    config: GenerationConfig,
    prompt_ids: torch.Tensor,
    *,
    memory: Memory,
    stopwatch: Stopwatch,
    still_alive: Callable[[int], None],
) -> Pass:
    """Call generate() and read peak, cache and clocks; raises EndedEarly, and whatever generate() raises."""
    reading = _Reading(memory)
    clock = TokenClock(at_first_token=reading.at_first_token, still_alive=still_alive)
    memory.start()
    with cache_caught(model, reading.keep):
        memory.synchronise()
        clock.start()
        with stopwatch.running():
            _generate(model, config, prompt_ids, streamer=clock)
    if len(clock.times) != config.max_new_tokens:
        raise EndedEarly(f"generate() gave {len(clock.times)} of the {config.max_new_tokens} tokens it was asked for")
    return _pass(reading, clock, memory)


def _generate(model: Any, config: GenerationConfig, prompt_ids: torch.Tensor, **options: Any) -> None:
    # A static cache would keep the longest length of earlier calls.
    model._previous_max_cache_length = -1
    with torch.inference_mode():
        model.generate(prompt_ids, attention_mask=torch.ones_like(prompt_ids), generation_config=config, **options)


def _pass(reading: _Reading, clock: TokenClock, memory: Memory) -> Pass:
    peak_bytes = memory.peak_bytes()
    kv_bytes = host_bytes = None
    if reading.cache is not None:
        memory.note_cache(reading.cache)
        kv_bytes = used_bytes(reading.cache, on=memory.kind)
        host_bytes = memory.host_bytes(used_bytes(reading.cache, on="cpu"))
    at_prefill = peak_bytes == reading.prefill_peak_bytes
    return Pass(
        peak_bytes=peak_bytes,
        kv_at_peak_bytes=reading.kv_prefill_bytes if at_prefill else kv_bytes,
        kv_bytes=kv_bytes,
        kv_prefill_bytes=reading.kv_prefill_bytes,
        host_bytes=host_bytes,
        ttft_s=clock.ttft_s,
        decode_tokens_per_s=clock.decode_tokens_per_s,
        intervals_s=clock.intervals_s,
        total_s=clock.total_s,
    )
