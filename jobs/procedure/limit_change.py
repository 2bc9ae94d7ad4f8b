"""Whether an answer differs from the one before by more than the search for a limit can tell apart."""

from dataclasses import dataclass

from jobs.procedure.noise import limit_noise_tokens


@dataclass(frozen=True, kw_only=True)
class Found:
    """An answer in short; context in tokens, None where nothing fits; fits: the whole workload."""

    context: int | None
    strategy: str
    fits: bool


def limit_changed(before: Found | None, now: Found) -> bool:
    """True for a first answer, another strategy, a workload that fits no more or does now, and a context that lies
    more than one step of the search away."""
    if before is None or before.strategy != now.strategy or before.fits != now.fits:
        return True
    if before.context is None or now.context is None:
        return before.context is not now.context
    return abs(now.context - before.context) > limit_noise_tokens(before.context, now.context)
