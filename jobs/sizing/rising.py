"""The most of something that fits, where what it takes never falls as there is more of it."""

from bisect import bisect_right
from collections.abc import Callable
from math import isqrt

HALVE_EVERY = 4
FAR_APART = 4
"""Bounds that far from each other are of different kinds of size: their geometric mean tells more than a line."""


class Rising:
    """Sizes of 1, 2, … steps, each worked out once however many limits are searched for."""

    def __init__(self, size: Callable[[int], int], *, most: int, step: int = 1) -> None:
        """size: bytes of a multiple of `step` up to `most`."""
        self._size, self._step, self._steps = size, step, most // step
        self._known: dict[int, int] = {}
        self._places: list[int] = []

    def most_within(self, limit_bytes: int) -> int | None:
        """The largest multiple of `step` up to `most` whose size is within the limit; None where not even the first.

        By interpolation between the nearest two known (Illinois), which sizes that are nearly straight or parabolic
        need few steps for.
        """
        if self._steps < 1 or self._at(1) > limit_bytes:
            return None
        if self._at(self._steps) <= limit_bytes:
            return self._steps * self._step
        below, above = self._around(limit_bytes)
        spare, excess = float(limit_bytes - self._at(below)), float(self._at(above) - limit_bytes)
        turn, last = 0, ""
        while above - below > 1:
            turn += 1
            guess = below + round((above - below) * spare / (spare + excess))
            if turn % 2 == 0 and above > FAR_APART * below:
                guess = isqrt(below * above)
            elif turn % HALVE_EVERY == 0:
                guess = (below + above) // 2
            guess = min(max(guess, below + 1), above - 1)
            size = self._at(guess)
            if size <= limit_bytes:
                excess = excess / 2 if last == "below" else excess
                below, spare, last = guess, float(limit_bytes - size), "below"
            else:
                spare = spare / 2 if last == "above" else spare
                above, excess, last = guess, float(size - limit_bytes), "above"
        return below * self._step

    def _at(self, steps: int) -> int:
        if steps not in self._known:
            self._known[steps] = self._size(steps * self._step)
            self._places.insert(bisect_right(self._places, steps), steps)
        return self._known[steps]

    def _around(self, limit_bytes: int) -> tuple[int, int]:
        """The largest known within the limit, and the smallest beyond it."""
        place = bisect_right(self._places, limit_bytes, key=lambda steps: self._known[steps])
        return self._places[place - 1], self._places[place]
