"""What a question asks where nobody says otherwise."""

from jobs.sizing.strategy import Strategy

HEADROOM_PERCENT = 10
# Nats; docs/measured.md: caches of 4 bits stay below 0.1, those of 2 bits are beyond 1.
MAX_KL = 0.2
STRATEGIES = ("static", "quantized:hqq:8", "quantized:hqq:4", "quantized:quanto:4", "chunked:512")
OFFERED = tuple(
    Strategy.parse(name)
    for name in (
        "default",
        "chunked:512",
        "static",
        "quantized:hqq:4",
        "quantized:hqq:8",
        "quantized:quanto:4",
        "offloaded",
        "offloaded_static",
        "quantized:fp8",
        "quantized:hqq:2",
        "quantized:quanto:2",
    )
)
"""What a question may be asked about without naming it, in the order in which a model is read for them."""
TYPICAL_PART = 4
OFFLOADED = ("offloaded", "offloaded_static")


def strategies_for(device_kind: str) -> tuple[Strategy, ...]:
    """On a GPU the offloading strategies too: a CPU has nowhere to move its cache to."""
    names = (*STRATEGIES, *OFFLOADED) if device_kind == "cuda" else STRATEGIES
    return tuple(Strategy.parse(name) for name in names)


def typical_prompt_tokens(prompt_tokens: int) -> int:
    """A quarter of the longest."""
    return max(1, prompt_tokens // TYPICAL_PART)
