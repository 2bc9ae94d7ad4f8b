"""Figures as people read them."""

from jobs.sizing.strategy import Strategy
from jobs.sizing.units import bytes_text as bytes_text


def tokens_text(tokens: int) -> str:
    return f"{tokens:,} tokens"


def speed_text(tokens_per_s: float) -> str:
    return f"{tokens_per_s:.{1 if tokens_per_s < 100 else 0}f} tokens/s"


def seconds_text(seconds: float) -> str:
    return f"{seconds:.{2 if seconds < 1 else 1}f} s"


def percent_text(percent: float) -> str:
    return f"{percent:g} %"


def with_strategy(strategy: Strategy) -> str:
    """How a sentence names it: “with the normal cache”, “with quantized 4 bits (hqq)”."""
    label = strategy.label
    return f"with the {label}" if label == "normal cache" else f"with {label}"
