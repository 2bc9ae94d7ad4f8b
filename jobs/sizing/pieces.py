"""Prefills that work on whole pieces of the prompt: a state-space scan fills the last piece up, and needs it all.

Between two whole pieces such a pass needs what it needs at the next one, less a little for the tokens that are not
there. Rungs at whole pieces and right after them give it away; two such steps must tell the same.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from jobs.sizing.record import Point

WHOLE_TOKENS = 1024
"""Whole pieces of every size in use: powers of two up to it."""
TELLING_RUNGS = (1, 16, WHOLE_TOKENS, WHOLE_TOKENS + 1, 2 * WHOLE_TOKENS, 2 * WHOLE_TOKENS + 1)
SMALLEST_PIECE = 16
ROUNDING = 0.1  # a token costs a little less within the first piece than within later ones


class Pieces(NamedTuple):
    """points: at whole pieces alone. token_bytes: what a token costs within a piece that is filled up anyway."""

    piece_tokens: int
    token_bytes: float
    points: tuple[Point, ...]

    def filled(self, tokens: int) -> int:
        """The tokens of the whole pieces that hold so many."""
        return -(-tokens // self.piece_tokens) * self.piece_tokens


@lru_cache(maxsize=4096)
def pieces_of(points: tuple[Point, ...]) -> Pieces | None:
    """What a ladder tells of its pass's pieces; None where it works on every token alone."""
    sizes = dict(points)
    if not sizes.keys() >= set(TELLING_RUNGS):
        return None
    one, few, whole, after, twice, after_twice = (sizes[tokens] for tokens in TELLING_RUNGS)
    within, overall = (few - one) / (TELLING_RUNGS[1] - 1), (twice - whole) / WHOLE_TOKENS
    if overall <= within:
        return None
    steps = {_power_of_two((step - within) / (overall - within)) for step in (after - whole, after_twice - twice)}
    piece = steps.pop()
    if steps or piece is None:
        return None
    token_bytes = (whole + overall * piece - after) / (piece - 1)
    return _filled_up(points, piece, token_bytes)


def _filled_up(points: Sequence[Point], piece: int, token_bytes: float) -> Pieces:
    """Each rung as the whole pieces that hold it; of several in one, the most."""
    bare = Pieces(piece, token_bytes, ())
    filled: dict[int, int] = {}
    for tokens, size in points:
        whole = bare.filled(tokens)
        filled[whole] = max(filled.get(whole, 0), round(size + token_bytes * (whole - tokens)))
    return bare._replace(points=tuple(Point(*point) for point in sorted(filled.items())))


def _power_of_two(tokens: float) -> int | None:
    """The power of two that this is, nearly."""
    power = SMALLEST_PIECE
    while power <= WHOLE_TOKENS:
        if abs(tokens - power) <= ROUNDING * power:
            return power
        power *= 2
    return None
