"""What a record can answer, and two records of one model as one."""

from collections.abc import Iterable
from dataclasses import replace

from jobs.sizing.budgets import refusal_of
from jobs.sizing.record import InspectionRecord, PeakRung, Phase, StoredWeights
from jobs.sizing.strategy import Strategy
from jobs.sizing.units import dtype_bytes
from jobs.sizing.working import rung_name


def covers(
    record: InspectionRecord,
    *,
    dtype: str,
    strategies: Iterable[Strategy],
    attention: str = "sdpa",
    padded: bool = False,
) -> bool:
    """Whether the record holds the weights in this precision, and passes of each strategy that the model can take."""
    return not missing(record, dtype=dtype, strategies=strategies, attention=attention, padded=padded)


def missing(
    record: InspectionRecord,
    *,
    dtype: str,
    strategies: Iterable[Strategy],
    attention: str = "sdpa",
    padded: bool = False,
) -> tuple[Strategy, ...]:
    """Of the strategies, those whose passes the record does not hold; without the weights' bytes it holds none.

    A strategy that the model cannot take has none, and needs none. A precision as wide serves.
    """
    width = dtype_bytes(dtype)
    if not any(dtype_bytes(known) == width for known in record.weights_bytes):
        return tuple(strategies)
    held = {
        (rung.phase, rung.strategy)
        for rung in record.rungs
        if (rung.attention, rung.padded, dtype_bytes(rung.dtype)) == (attention, padded, width)
    }
    return tuple(
        strategy
        for strategy in strategies
        if refusal_of(record, strategy) is None
        and any((phase, rung_name(strategy, phase)) not in held for phase in Phase)
    )


def together(kept: InspectionRecord, fresh: InspectionRecord) -> InspectionRecord:
    """Both records' passes as one record, the fresh one's where both have them; alone where they are of two models."""
    if (kept.config_hash, kept.versions) != (fresh.config_hash, fresh.versions):
        return fresh
    rungs = {_key(rung): rung for rung in (*kept.rungs, *fresh.rungs)}
    return replace(
        fresh,
        rungs=tuple(rungs.values()),
        weights_bytes={**kept.weights_bytes, **fresh.weights_bytes},
        refusals={**kept.refusals, **fresh.refusals},
        stored=fresh.stored and _stored_together(kept.stored, fresh.stored),
        on_the_fly={
            name: _stored_together(kept.on_the_fly.get(name), stored) for name, stored in fresh.on_the_fly.items()
        },
    )


def _stored_together(kept: StoredWeights | None, fresh: StoredWeights) -> StoredWeights:
    before = kept.device_bytes if kept is not None else {}
    return replace(fresh, device_bytes={**before, **fresh.device_bytes})


def _key(rung: PeakRung) -> tuple[object, ...]:
    return rung.phase, rung.strategy, rung.dtype, rung.attention, rung.sequences, rung.tokens, rung.padded
