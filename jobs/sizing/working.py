"""Working memory between the rungs that were measured on the meta device.

What a pass needs beside weights and cache is, piece by piece, a polynomial of degree two at most in the tokens
(activations grow with the tokens, masks and scores with their square), and it is convex where the largest piece
changes. So between two rungs the greater of two parabolas is taken, the one through the three rungs below and the one
through the three above: exact within a piece and where two meet. Where rungs are too few, or a window's end makes a
step, it is the parabola with the gentler of the neighbouring curvatures. Never above the chord, never falling.
"""

from collections.abc import Sequence
from itertools import pairwise

from jobs.sizing.pieces import pieces_of
from jobs.sizing.record import InspectionRecord, LadderKind, Ladders, Phase, Point
from jobs.sizing.refusal import Refusal
from jobs.sizing.strategy import CacheKind, Strategy
from jobs.sizing.units import DTYPE_BYTES, dtype_bytes

ROUNDING_BYTES = 64
CLOSE = 1.05
_ON_DEVICE = {CacheKind.OFFLOADED: CacheKind.DEFAULT, CacheKind.OFFLOADED_STATIC: CacheKind.STATIC}


def working_bytes(
    record: InspectionRecord,
    *,
    phase: Phase,
    tokens: int,
    sequences: int,
    dtype: str,
    strategy: Strategy,
    attention: str = "sdpa",
    padded: bool = False,
) -> int:
    """Bytes beside weights and KV that the pass of `phase` needs at `tokens` cached tokens per sequence.

    Raises Refusal("not_inspected") where the record has no rung for that strategy and precision.
    """
    whole = strategy.chunk_tokens is not None and tokens <= strategy.chunk_tokens
    names = [rung_name(strategy.without_chunks, phase)] if whole else []
    names.append(rung_name(strategy, phase))
    found = (_ladders(record, phase, dtype, name, attention, padded) for name in names)
    ladders = next((ladders for ladders in found if ladders), {})
    if not ladders:
        raise Refusal(
            "not_inspected",
            f"The inspection of {record.model} holds no peak for {strategy} in {dtype}.",
            "Inspect the model again with this strategy and precision.",
        )
    return _over_sequences({count: _in_pieces(points, tokens) for count, points in ladders.items()}, sequences)


def rung_name(strategy: Strategy, phase: Phase) -> str:
    """The strategy whose rung serves: offloading works on the device as its plain kind does, and so does decoding
    after a chunked prefill."""
    cache = _ON_DEVICE.get(strategy.cache, strategy.cache)
    chunk = strategy.chunk_tokens if phase is Phase.PREFILL else None
    return str(Strategy(cache=cache, backend=strategy.backend, bits=strategy.bits, chunk_tokens=chunk))


def _ladders(
    record: InspectionRecord, phase: Phase, dtype: str, strategy: str, attention: str, padded: bool
) -> Ladders:
    """Rungs by sequences, in the order of their tokens; else those of a precision as wide."""
    for usable in (dtype, *(other for other, width in DTYPE_BYTES.items() if width == dtype_bytes(dtype))):
        ladders = record.ladders.get(LadderKind(phase, strategy, attention, padded, usable))
        if ladders:
            return ladders
    return {}


def _over_sequences(sizes: dict[int, int], sequences: int) -> int:
    """Linear in the number of sequences; through the origin where only one number was inspected."""
    if sequences in sizes:
        return sizes[sequences]
    if len(sizes) == 1:
        ((count, size),) = sizes.items()
        return -(-size * sequences // count)
    counts = sorted(sizes)
    below = max((count for count in counts[:-1] if count < sequences), default=counts[0])
    above = counts[counts.index(below) + 1]
    slope = (sizes[above] - sizes[below]) / (above - below)
    return max(0, round(sizes[below] + slope * (sequences - below)))


def _in_pieces(points: tuple[Point, ...], tokens: int) -> int:
    """As `_at`, where the pass works on whole pieces of the prompt and where it does not."""
    exact = next((point for point in points if point.tokens == tokens), None)
    pieces = None if exact else pieces_of(points)
    if pieces is None:
        return _at(points, tokens)
    return max(0, round(_at(pieces.points, pieces.filled(tokens)) - pieces.absent_bytes(tokens)))


def _at(points: Sequence[Point], tokens: int) -> int:
    """The working bytes at `tokens`, between or beyond the rungs."""
    exact = next((point for point in points if point.tokens == tokens), None)
    if exact is not None:
        return exact.working_bytes
    if len(points) == 1 or tokens < points[0].tokens:
        return points[0].working_bytes
    index = min(max(i for i, point in enumerate(points) if point.tokens < tokens), len(points) - 2)
    start, end = points[index], points[index + 1]
    apart = _apart(points)
    if tokens < end.tokens and start in apart and end in apart and _is_convex(apart, apart.index(start)):
        return _between(apart, apart.index(start), tokens)
    bend = _bend(points, index)
    straight = start.working_bytes + _slope(start, end) * (tokens - start.tokens)
    return max(0, round(straight + bend * (tokens - start.tokens) * (tokens - end.tokens)))


def _apart(points: Sequence[Point]) -> list[Point]:
    """Without rungs close below another, as stand around a full window: what lies between them is the step alone."""
    return [point for point, above in pairwise(points) if above.tokens > CLOSE * point.tokens] + [points[-1]]


def _is_convex(points: Sequence[Point], index: int) -> bool:
    """Whether three rungs lie on each side of the interval, and nothing in sight bends downwards."""
    if not 2 <= index <= len(points) - 4:
        return False
    slopes = [_slope(points[i], points[i + 1]) for i in range(index - 2, index + 3)]
    return slopes == sorted(slopes)


def _between(points: Sequence[Point], index: int, tokens: int) -> int:
    """The greater of what the three rungs below and the three above foretell; at most the chord."""
    start, end, beyond = points[index : index + 3]
    before = points[index - 1]
    rising = max(0.0, _curvature(points[index - 2], before, start))
    below = start.working_bytes + (tokens - start.tokens) * (_slope(before, start) + rising * (tokens - before.tokens))
    level = _slope(end, beyond) / (end.tokens + beyond.tokens - 2 * start.tokens)  # bent more, it would fall
    falling = min(level, max(0.0, _curvature(end, beyond, points[index + 3])))
    above = end.working_bytes + (tokens - end.tokens) * (_slope(end, beyond) + falling * (tokens - beyond.tokens))
    chord = start.working_bytes + _slope(start, end) * (tokens - start.tokens)
    return round(min(chord, max(below, above)))


def _slope(start: Point, end: Point) -> float:
    return (end.working_bytes - start.working_bytes) / (end.tokens - start.tokens)


def _bend(points: Sequence[Point], index: int) -> float:
    """Half the curvature to take between rung `index` and the next: the gentler of the two sides', never a fall.

    A side that bends the other way is a jump (where a window is full), and tells nothing of what lies between.
    """
    triples = [i for i in (index - 1, index) if 0 <= i <= len(points) - 3]
    curvatures = [bend for bend in (_curvature(*points[i : i + 3]) for i in triples) if bend >= 0]
    start, end = points[index], points[index + 1]
    steepest = max(0.0, _slope(start, end) / (end.tokens - start.tokens))
    return min([*curvatures, steepest]) if curvatures else 0.0


def _curvature(first: Point, second: Point, third: Point) -> float:
    """Half the second derivative; what rounding to whole bytes can make is none."""
    bend = (_slope(second, third) - _slope(first, second)) / (third.tokens - first.tokens)
    shift_bytes = abs(bend) * (third.tokens - first.tokens) ** 2
    return bend if shift_bytes > ROUNDING_BYTES else 0.0
