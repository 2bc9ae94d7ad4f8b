"""What was edited in a question since it was answered, each thing in the words of a page."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from jobs.procedure.difference import Difference, Weight
from jobs.procedure.quality_text import kl_text
from jobs.procedure.words import bytes_text, percent_text, seconds_text, speed_text, tokens_text
from jobs.sizing.stored import AS_STORED, PACKED_WORDS
from jobs.sizing.strategy import strategy_label

Words = Callable[[Any], str]
NO_BOUND = "none"
OF_A_POINT = ("model", "dtype", "weights", "attention", "sequences", "answer_tokens", "prompts_sha256")
"""What two points of one strategy and context must have in common to be compared."""
ELSEWHERE = frozenset({"device"})
"""A device differs by its name rather than by its number."""


def question_differences(was: Mapping[str, Any], now: Mapping[str, Any]) -> tuple[Difference, ...]:
    """Both as JSON; a field that one lacks, of an older release, is no difference."""
    return tuple(_differences(was, now))


def same_points(was: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
    """Whether a point of the one answers the same as the other's of that strategy and context."""
    return all(was.get(name) == now.get(name) for name in OF_A_POINT)


def same_limit(was: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
    """Whether both ask for the same limit."""
    return not any(difference.weight is Weight.STALE for difference in _differences(was, now))


def _differences(was: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[Difference]:
    for name, (what, words, weight) in FIELDS.items():
        if name not in was or name not in now or _alike(name, was[name], now[name]):
            continue
        yield Difference(what=what, was=words(was[name]), now=words(now[name]), weight=weight)


def _alike(name: str, was: Any, now: Any) -> bool:
    """The strategies' order decides nothing."""
    return bool(sorted(was) == sorted(now) if name == "strategies" else was == now)


def _bound(words: Words, unbounded: str = NO_BOUND) -> Words:
    return lambda value: unbounded if value is None else words(value)


def _prompts(sha256: str | None) -> str:
    return f"the file {sha256[:7]}" if sha256 else "random tokens"


def _strategies(names: list[str]) -> str:
    return ", ".join(map(strategy_label, names)) or "none"


def _weights(name: str) -> str:
    return "as stored" if name == AS_STORED else PACKED_WORDS.get(name, name)


def _minutes(seconds: float) -> str:
    return f"{seconds / 60:g} min"


def _yes_no(value: bool) -> str:
    return "yes" if value else "no"


FIELDS: dict[str, tuple[str, Words, Weight]] = {
    "model": ("model", str, Weight.STALE),
    "dtype": ("precision", str, Weight.STALE),
    "weights": ("weights", _weights, Weight.STALE),
    "attention": ("attention", str, Weight.STALE),
    "sequences": ("sequences at once", str, Weight.STALE),
    "prompt_tokens": ("longest prompt", tokens_text, Weight.STALE),
    "typical_prompt_tokens": ("typical prompt", tokens_text, Weight.STALE),
    "answer_tokens": ("answer", tokens_text, Weight.STALE),
    "prompts_sha256": ("prompts", _prompts, Weight.STALE),
    "strategies": ("strategies to try", _strategies, Weight.STALE),
    "capacity_bytes": ("capacity", _bound(bytes_text, "all of the device"), Weight.STALE),
    "headroom_percent": ("headroom", percent_text, Weight.STALE),
    "min_decode_tokens_per_s": ("minimum speed", _bound(speed_text), Weight.STALE),
    "max_ttft_s": ("longest time to the first token", _bound(seconds_text), Weight.STALE),
    "max_kl": ("bound on quality (mean KL)", _bound(kl_text), Weight.STALE),
    "host_capacity_bytes": ("CPU RAM", _bound(bytes_text, "no bound"), Weight.STALE),
    "compare_anyway": ("compared anyway", _yes_no, Weight.DOUBT),
    "depth": ("depth", str, Weight.DOUBT),
    "time_cap_s": ("time cap", _bound(_minutes), Weight.DOUBT),
}
