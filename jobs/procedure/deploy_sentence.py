"""The sentences of a check before deploying, in the words of the pages."""

from collections.abc import Iterable

from jobs.procedure.deploy_verdict import Adopted, Measured
from jobs.procedure.deployed_cache import DeployedCache
from jobs.procedure.words import tokens_text, with_strategy
from jobs.sizing.refusal import Refusal
from jobs.sizing.stored import PACKED_WORDS
from jobs.sizing.strategy import Strategy

NAMED = {"dtype": "precision", "attention": "attention", "device": "device", "revision": "revision"}


def other_sentence(what: str, deployed: str, measured: str) -> str:
    """Of what is deployed otherwise than it was measured."""
    if what == "model":
        return f"The model {deployed} was not measured in this profile; {measured} was."
    if what == "weights":
        return f"The weights are to be {_packed(deployed)}; they were measured {_packed(measured)}."
    if what == "sequences":
        return f"{deployed} sequences are to run at once; at most {measured} were measured."
    subject = f"The {NAMED[what]}" if what in NAMED else what
    return f"{subject} is to be {deployed}; {measured} was measured."


def strategy_sentence(cache: DeployedCache, limits: Iterable[str]) -> str:
    """Of a strategy that never was measured."""
    cache_words = f"with “{cache.label}”" if cache.strategy is None else with_strategy(cache.strategy)
    names = [strategy_words(name) for name in limits]
    measured = "; ".join(names) or "none"
    return f"Nothing was measured {cache_words}. Strategies that were: {measured}."


def context_sentence(context: int, strategy: str, measured: Measured) -> str:
    """Of more tokens than were measured, or than the team adopted."""
    most, adopted, words = measured.limits.get(strategy), measured.adopted, with_strategy(Strategy.parse(strategy))
    if adopted is not None and adopted.strategy == strategy and (most is None or context <= most):
        seen = "" if most is None else f"; {most:,} was measured"
        return f"The team adopted at most {tokens_text(adopted.context)} {words}{seen}."
    if most is None:
        return f"No context that was measured fits {words}."
    also = f" The team adopted at most {adopted.context:,}." if adopted and adopted.strategy == strategy else ""
    return f"{tokens_text(context)} {words} are more than the {most:,} that were measured.{also}"


def note_sentence(adopted: Adopted | None, strategy: str) -> str:
    """That the team adopted another strategy; empty where it did not."""
    if adopted is None or adopted.strategy == strategy:
        return ""
    return f"The team adopted {strategy_words(adopted.strategy)} up to {tokens_text(adopted.context)}."


def strategy_words(name: str) -> str:
    """“the normal cache”, “quantized 4 bits (hqq)”; one of another release stays as it is."""
    try:
        return with_strategy(Strategy.parse(name)).removeprefix("with ")
    except Refusal:
        return name


def _packed(weights: str) -> str:
    return PACKED_WORDS.get(weights, "as stored")
