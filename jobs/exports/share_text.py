"""A shared answer in sentences for somebody who knows neither the portal nor caches."""

from collections.abc import Mapping, Sequence
from typing import Any

from jobs.sizing.strategy import BASELINE, CacheKind, Strategy

CACHES = {
    CacheKind.DEFAULT: "with the normal cache",
    CacheKind.STATIC: "with a static cache",
    CacheKind.OFFLOADED: "with the cache offloaded to CPU RAM",
    CacheKind.OFFLOADED_STATIC: "with a static cache offloaded to CPU RAM",
}
BECAUSE = {
    "memory": "A longer one needs more memory than the device has to give.",
    "speed": "A longer one answers more slowly than was asked for.",
    "ttft": "With a longer one the answer starts later than was asked for.",
    "quality": "With a longer one the answers would differ more than was asked for.",
    "host_memory": "A longer one needs more CPU RAM than there is.",
    "native_context": "The model itself was made for no more.",
}
# What the workload misses where it is not memory that ends it; and what even a short context does then.
MISSES = {
    "speed": "are answered more slowly than was asked for",
    "ttft": "are begun to be answered later than was asked for",
    "quality": "are answered with more difference than was asked for",
    "native_context": "are more than the model was made for",
}
SHORT_MISSES = {
    "speed": "is answered as fast as was asked for",
    "ttft": "is begun to be answered as soon as was asked for",
    "quality": "is answered with as little difference as was asked for",
}


def strategy_text(name: str) -> str:
    """“with the cache quantized to 4 bits (hqq)”."""
    strategy = Strategy.parse(name)
    told = CACHES.get(strategy.cache) or _quantized(strategy)
    if strategy.chunk_tokens is None:
        return told
    chunks = f"with the prompt read in chunks of {strategy.chunk_tokens:,} tokens"
    return chunks if strategy.cache is CacheKind.DEFAULT else f"{told} and {chunks.removeprefix('with ')}"


def verdict_text(limit: Mapping[str, Any], *, asked_context: int, sequences: int, cautions: Sequence[str] = ()) -> str:
    """The answer in one or two sentences, from figures alone; cautions: what makes it provisional."""
    context, name = limit["context"], limit["strategy"]
    but = "".join(f"; {caution}" for caution in cautions)
    if limit["open"]:
        return _open(limit, sequences, but)
    if context is None:
        return f"No: not even a short context {SHORT_MISSES.get(limit['limited_by'], 'fits on this device')}{but}."
    if not limit["fits"]:
        missed = MISSES.get(limit["limited_by"])
        which = "within that" if missed else "that does"
        which = f"The closest {which}{', provisionally,' if cautions else ''} is"
        closest = f"{which} {_so_much(context, sequences)} {strategy_text(name)}{but}."
        because = "" if missed else BECAUSE.get(limit["limited_by"], "")
        asked = f"{_so_much(asked_context, sequences)}, as asked for,"
        return f"No: {asked} {missed or 'do not fit on this device'}. {closest} {because}".strip()
    yes = "Provisionally yes" if cautions else "Yes"
    fits = f"{yes}: {_so_much(context, sequences)}, as asked for, fit on this device {strategy_text(name)}"
    if name == str(BASELINE):
        return f"{fits}, without any special setting{but}." if cautions else f"{fits}; no special setting is needed."
    return f"{fits}{but}. {_normal(limit)}"


def _so_much(context: int, sequences: int) -> str:
    return f"{context:,} tokens" if sequences == 1 else f"{sequences:,} sequences of {context:,} tokens at once"


def _open(limit: Mapping[str, Any], sequences: int, but: str) -> str:
    told = "Not answered yet: the measuring ended before it was seen what fits."
    if limit["context"] is None:
        return told
    longest = _so_much(limit["context"], sequences)
    return f"{told} The longest seen to fit is {longest} {strategy_text(limit['strategy'])}{but}."


def _normal(limit: Mapping[str, Any]) -> str:
    normal = next((row["context"] for row in limit["by_strategy"] if row["strategy"] == str(BASELINE)), None)
    return (
        f"The normal cache ends at {normal:,}." if normal else "With the normal cache, no length that was tried fits."
    )


def _quantized(strategy: Strategy) -> str:
    to = f"{strategy.bits} bits ({strategy.backend})" if strategy.bits else f"8-bit floats ({strategy.backend})"
    return f"with the cache quantized to {to}"
