"""Prefills that work on whole pieces of the prompt: a state-space scan fills the last piece up, and needs it all.

Between two whole pieces such a pass needs what it needs at the next one, less a little for the tokens that are not
there. Rungs at whole pieces and right after them give it away; two such steps must tell the same.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from jobs.sizing.record import Point

HALF, WHOLE, TWICE = 512, 1024, 2048
"""Whole pieces of every size in use: powers of two up to the least of them."""
FIRST, FEW = 1, 16
TELLING_RUNGS = (FIRST, FEW, HALF, WHOLE, WHOLE + 1, TWICE, TWICE + 1)
PIECES = (16, 32, 64, 128, 256, 512)
ROUNDING = 0.1  # a token costs a little less within the first piece than within later ones


class Pieces(NamedTuple):
    """points: at whole pieces alone. What a token costs that is there, within a piece that is filled up anyway:
    token_bytes, and square_bytes for each token before it and itself (masks).
    """

    piece_tokens: int
    token_bytes: float
    square_bytes: float
    points: tuple[Point, ...]

    def filled(self, tokens: int) -> int:
        """The tokens of the whole pieces that hold so many."""
        return -(-tokens // self.piece_tokens) * self.piece_tokens

    def absent_bytes(self, tokens: int) -> float:
        """What the tokens would cost that are not there in the last piece."""
        whole = self.filled(tokens)
        return self.token_bytes * (whole - tokens) + self.square_bytes * (whole**2 - tokens**2)


@lru_cache(maxsize=4096)
def pieces_of(points: tuple[Point, ...]) -> Pieces | None:
    """What a ladder tells of its pass's pieces; None where it works on every token alone."""
    sizes = dict(points)
    if not sizes.keys() >= set(TELLING_RUNGS):
        return None
    square_bytes = _bend(sizes)
    within = (sizes[FEW] - sizes[FIRST]) / (FEW - FIRST)
    told = {_piece_after(start, sizes, within) for start in (WHOLE, TWICE)}
    piece = told.pop()
    if told or piece is None:
        return None
    left = _at_whole(WHOLE + piece, sizes) - sizes[WHOLE + 1] - square_bytes * _squares(WHOLE, piece)
    return _filled_up(points, Pieces(piece, left / (piece - 1), square_bytes, ()))


def _piece_after(start: int, sizes: Mapping[int, int], within: float) -> int | None:
    """The piece that a first token after `start` begins, by what that step costs; None where it begins none."""
    after, step = sizes[start + 1], sizes[start + 1] - sizes[start]

    def miss(piece: int) -> float:
        absent = within * (piece - 1) + _bend(sizes) * _squares(start, piece)
        return abs(_at_whole(start + piece, sizes) - absent - after)

    best = min((1, *PIECES), key=miss)
    return best if best > 1 and miss(best) <= ROUNDING * step else None


def _squares(start: int, piece: int) -> int:
    """By how much the square of a whole piece's end exceeds that of its first token."""
    return (start + piece) ** 2 - (start + 1) ** 2


def _bend(sizes: Mapping[int, int]) -> float:
    """Bytes for each token squared, by three whole numbers of pieces: pieces themselves only add up."""
    first = (sizes[WHOLE] - sizes[HALF]) / (WHOLE - HALF)
    second = (sizes[TWICE] - sizes[WHOLE]) / (TWICE - WHOLE)
    return (second - first) / (TWICE - HALF)


def _at_whole(tokens: int, sizes: Mapping[int, int]) -> float:
    first = (sizes[WHOLE] - sizes[HALF]) / (WHOLE - HALF)
    return sizes[HALF] + first * (tokens - HALF) + _bend(sizes) * (tokens - HALF) * (tokens - WHOLE)


def _filled_up(points: Sequence[Point], bare: Pieces) -> Pieces:
    """Each rung as the whole pieces that hold it; of several in one, the most."""
    filled: dict[int, int] = {}
    for tokens, size in points:
        whole = bare.filled(tokens)
        filled[whole] = max(filled.get(whole, 0), round(size + bare.absent_bytes(tokens)))
    return bare._replace(points=tuple(Point(*point) for point in sorted(filled.items())))
