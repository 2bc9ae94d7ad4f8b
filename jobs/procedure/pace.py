"""How speed goes on beyond the measured points: enough to choose where to measure next, never an answer."""

from collections.abc import Sequence
from dataclasses import dataclass

from jobs.procedure.measurement import Measurement, Outcome
from jobs.procedure.verdict import Bounds


@dataclass(frozen=True, kw_only=True)
class Pace:
    """(prompt, seconds) of a token and of the first one: straight lines between the measured points, and beyond."""

    token_s: tuple[tuple[int, float], ...]
    ttft_s: tuple[tuple[int, float], ...]

    @classmethod
    def of(cls, measurements: Sequence[Measurement]) -> "Pace":
        done = sorted((m for m in measurements if m.outcome is Outcome.OK), key=lambda m: m.prompt)
        return cls(
            token_s=tuple((m.prompt, 1 / m.decode_tokens_per_s) for m in done if m.decode_tokens_per_s),
            ttft_s=tuple((m.prompt, m.ttft_s) for m in done if m.ttft_s),
        )

    def allows(self, prompt: int, bounds: Bounds) -> bool:
        """True where nothing speaks against it."""
        token_s, ttft_s = line_at(self.token_s, prompt), line_at(self.ttft_s, prompt)
        least, most = bounds.min_decode_tokens_per_s, bounds.max_ttft_s
        fast_enough = least is None or token_s is None or token_s <= 1 / least
        return fast_enough and (most is None or ttft_s is None or ttft_s <= most)


def line_at(points: Sequence[tuple[int, float]], prompt: int) -> float | None:
    """On the line through the two points around `prompt`, or the two nearest its side; None without points."""
    if len(points) < 2:
        return points[0][1] if points else None
    place = next((index for index, (at, _) in enumerate(points) if at >= prompt), len(points) - 1)
    (x0, y0), (x1, y1) = points[max(0, place - 1)], points[max(1, place)]
    return y0 + (y1 - y0) * (prompt - x0) / (x1 - x0)
