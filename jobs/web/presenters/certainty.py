"""How sure an answer is, in sentences."""

from collections.abc import Mapping
from typing import Any

from jobs.web.formats import percent


def certainty(stages: Mapping[str, Any]) -> tuple[str, ...]:
    """Whether the limit was confirmed, how often it was measured, and how far the repeats lie apart. Empty without an
    answer; what is provisional of it stands with the answer."""
    limit = stages.get("limit")
    if not limit:
        return ()
    told = (_confirmed(limit), _repeats(limit.get("ran_at") or {}))
    return tuple(sentence for sentence in told if sentence)


def _confirmed(limit: Mapping[str, Any]) -> str:
    if not limit.get("context"):
        return ""
    if limit.get("confirmed"):
        return "Confirmed: a real run at exactly that context, and nothing longer left to try."
    return "A real run at that context; the next longer one was not tried."


def _repeats(best: Mapping[str, Any]) -> str:
    times, spread = best.get("repeats") or 0, best.get("spread")
    if times < 2 or spread is None:
        return "Measured once: its spread is not known." if times else ""
    apart = f"Measured {times} times; the speeds lie within ± {percent(spread / 2)}"
    return f"{apart}, which is noisy." if best.get("noisy") else f"{apart}."
