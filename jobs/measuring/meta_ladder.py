"""At which prompt lengths peaks are taken: enough of them to say what lies between."""

from collections.abc import Iterable, Sequence

from jobs.sizing.pieces import TELLING_RUNGS
from jobs.sizing.record import LayerGroup
from jobs.sizing.strategy import Strategy

FIRST_RUNGS = (1, 16)
FIRST_CHUNKS = (1, 2, 3)
LOWEST_POWER = 64
POWER_STEP = 4
DENSE_STEP, DENSE_POWERS = 2, range(256, 8192)
"""Here masks overtake the layers' activations: between rungs further apart much would be guessed."""
DECODED_TOKENS = 2
"""A rung's decode step is the second after its prefill: the first one drops what a window no longer needs."""
QUANTIZED_STEP = 4
"""Quantizing wants whole groups, so prompts are multiples of 4 tokens."""


def ladder(asked: Iterable[int], layers: Sequence[LayerGroup], strategy: Strategy) -> tuple[int, ...]:
    """Powers of four, or of two where it matters, up to the longest asked for; those asked for; and both sides of
    every step (a full window). Models with a state get the rungs that tell whether its scan fills up whole pieces.

    Chunked prefills are taken at whole chunks, where they need most, at twice as many rungs: there the cache outgrows
    the chunk's own activations. A prompt within one chunk is not chunked, and needs no rung of this kind.
    """
    wanted = set(asked)
    top = max(wanted)
    windows = {layer.window_tokens for layer in layers if layer.window_tokens is not None}
    if strategy.chunk_tokens is not None:
        return _in_chunks(wanted, {window for window in windows if window <= top}, strategy.chunk_tokens)
    rungs = {*FIRST_RUNGS, *wanted, *(tokens - DECODED_TOKENS for tokens in wanted), *_powers(top)}
    for window in windows:
        if window <= 2 * top:
            rungs |= {window - DECODED_TOKENS, window - 1, window, window + 1}
    if any(layer.state_elements or layer.state_float32_elements for layer in layers) and top >= max(TELLING_RUNGS):
        rungs |= set(TELLING_RUNGS)
    positive = {rung for rung in rungs if rung > 0}
    return tuple(sorted({_allowed(rung, strategy) for rung in positive}))


def _in_chunks(wanted: set[int], windows: set[int], chunk_tokens: int) -> tuple[int, ...]:
    """Whole chunks: a doubling ladder of them, those asked for, and what follows a full window."""
    asked = {-(-tokens // chunk_tokens) for tokens in wanted}
    full = {-(-window // chunk_tokens) + more for window in windows for more in (0, 1, 2)}
    doubled = {2**power for power in range(max(asked).bit_length())}
    return tuple(sorted(chunk_tokens * count for count in {*asked, *full, *doubled, *FIRST_CHUNKS}))


def _powers(top: int) -> set[int]:
    powers = {LOWEST_POWER}
    while max(powers) < top:
        step = DENSE_STEP if max(powers) in DENSE_POWERS else POWER_STEP
        powers.add(min(top, step * max(powers)))
    return powers if top > LOWEST_POWER else set()


def _allowed(tokens: int, strategy: Strategy) -> int:
    """The next length that the strategy is sized at."""
    if strategy.is_quantized:
        return -(-tokens // QUANTIZED_STEP) * QUANTIZED_STEP
    return tokens
