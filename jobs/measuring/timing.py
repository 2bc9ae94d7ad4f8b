"""When each token came: a timestamp a token, and nothing else in the way of generation."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from time import perf_counter

import torch
from transformers import StoppingCriteria
from transformers.generation.streamers import BaseStreamer

STILL_ALIVE_S = 10.0


class Stopwatch:
    """Seconds spent within its blocks, those that ended in an error too."""

    def __init__(self) -> None:
        self.seconds = 0.0

    @contextmanager
    def running(self) -> Iterator[None]:
        began_at = perf_counter()
        try:
            yield
        finally:
            self.seconds += perf_counter() - began_at


class TokenClock(BaseStreamer):  # type: ignore[misc]
    """Given to generate() as its streamer: it is handed the prompt, then each step's tokens once on the host.

    `at_first_token` runs between the prompt and the answer; its own time counts for neither.
    `still_alive` is called every 10 s of decoding with the number of tokens so far.
    """

    def __init__(self, *, at_first_token: Callable[[], None], still_alive: Callable[[int], None]) -> None:
        self._at_first_token = at_first_token
        self._still_alive = still_alive
        self._prompt_seen = False
        self._told_at = 0.0
        self.started_at = 0.0
        self.decode_from = 0.0
        self.ended_at = 0.0
        self.times: list[float] = []

    def start(self) -> None:
        self.started_at = self._told_at = perf_counter()

    def put(self, value: torch.Tensor) -> None:
        # generate() hands over tokens that it has copied from the device, which has therefore caught up by now.
        if not self._prompt_seen:
            self._prompt_seen = True
            return
        now = perf_counter()
        self.times.append(now)
        if len(self.times) == 1:
            self._at_first_token()
            self.decode_from = perf_counter()
        elif now - self._told_at > STILL_ALIVE_S:
            self._told_at = now
            self._still_alive(len(self.times))

    def end(self) -> None:
        self.ended_at = perf_counter()

    @property
    def ttft_s(self) -> float:
        """From the call to the first token."""
        return self.times[0] - self.started_at

    @property
    def total_s(self) -> float:
        """From the call to its end, without what was read between the prompt and the answer."""
        return self.ended_at - self.started_at - (self.decode_from - self.times[0])

    @property
    def intervals_s(self) -> tuple[float, ...]:
        """Between each token and the next of one sequence: one fewer than tokens."""
        return tuple(later - earlier for earlier, later in pairwise([self.decode_from, *self.times[1:]]))

    @property
    def decode_tokens_per_s(self) -> float | None:
        """Of one sequence: steps after the first token over their time; None for an answer of one token."""
        steps = len(self.times) - 1
        return steps / (self.times[-1] - self.decode_from) if steps else None


class StopAfter(StoppingCriteria):  # type: ignore[misc]
    """Ends the warm-up early, so that it can have the very settings of the measurement."""

    def __init__(self, tokens: int, *, prompt_tokens: int) -> None:
        self._length = prompt_tokens + tokens

    def __call__(self, input_ids: torch.Tensor, scores: object, **kwargs: object) -> torch.Tensor:
        done = input_ids.shape[1] >= self._length
        return torch.full((input_ids.shape[0],), done, dtype=torch.bool, device=input_ids.device)
