"""The proof that a strategy differs from the baseline in one thing (a combination: in two)."""

from collections.abc import Mapping
from typing import Any

from jobs.sizing.strategy import Strategy

# Settings that say one thing together; any other setting is a thing of its own.
THINGS = {
    "cache_implementation": "cache",
    "cache_config": "cache",
    "prefill_chunk_size": "prefill",
}


def settings_changed(baseline: Mapping[str, Any], change: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Every recorded setting that differs: name -> {"baseline", "change"}; None stands for a setting not given."""
    return {
        name: {"baseline": baseline.get(name), "change": change.get(name)}
        for name in sorted({*baseline, *change})
        if baseline.get(name) != change.get(name)
    }


def things_changed(changed: Mapping[str, Any]) -> frozenset[str]:
    return frozenset(THINGS.get(name, name) for name in changed)


def is_proven(strategy: Strategy, changed: Mapping[str, Any]) -> bool:
    """Exactly the things that the strategy names."""
    return things_changed(changed) == expected_things(strategy)


def expected_things(strategy: Strategy) -> frozenset[str]:
    prefill = {"prefill"} if strategy.chunk_tokens is not None else set[str]()
    cache = {"cache"} if strategy.changes > len(prefill) else set[str]()
    return frozenset(cache | prefill)
