"""A recheck beside the answer that it rechecks: each figure, and whether it differs by more than the noise."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from jobs.procedure.difference import Difference
from jobs.procedure.freshness import Basis, environment_differences
from jobs.procedure.measurement import Measurement, Outcome
from jobs.procedure.noise import limit_noise_tokens, speed_noise_part
from jobs.procedure.quality_text import quality_at
from jobs.procedure.question_differences import question_differences, same_limit, same_points
from jobs.procedure.recheck_rows import Figure, Row, point_rows, quality_rows
from jobs.procedure.verdict import Limiter

OF_LIMITER: dict[str, Figure] = {
    Limiter.SPEED: Figure.SPEED,
    Limiter.TTFT: Figure.TTFT,
    Limiter.QUALITY: Figure.QUALITY,
}
PACES = (Figure.SPEED, Figure.TTFT)


@dataclass(frozen=True, kw_only=True)
class Found:
    """What a run found: its stages as they are kept, its measurements, and what they rest on."""

    basis: Basis
    on_cpu: bool
    stages: Mapping[str, Any]
    measurements: Sequence[Measurement]

    @property
    def limit(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.stages["limit"]
        return found

    @property
    def strategy(self) -> str:
        return str(self.limit.get("strategy") or "default")

    @property
    def weights_bytes(self) -> int:
        budgets = self.stages.get("budgets") or {}
        return int((budgets.get("weights") or {}).get("measured_bytes") or 0)

    @cached_property
    def points(self) -> dict[tuple[str, int], Measurement]:
        """That ran, by strategy and context."""
        return {(one.strategy, one.context): one for one in self.measurements if one.outcome is Outcome.OK}


@dataclass(frozen=True, kw_only=True)
class Recheck:
    """changed: in the model, the device and the libraries; edited: in the question.

    limits_compared: whether both asked for the same limit, and both saw it. quiet: how many figures of other strategies
    were compared and differ by no more than the noise, and so have no row.
    """

    rows: tuple[Row, ...]
    changed: tuple[Difference, ...]
    edited: tuple[Difference, ...]
    same_question: bool
    limits_compared: bool
    quiet: int
    on_cpu: bool

    @property
    def beyond(self) -> tuple[Row, ...]:
        return tuple(row for row in self.rows if row.beyond)

    @property
    def only_busy(self) -> bool:
        """Whether nothing differs but speeds on a CPU, which whatever else it did may have slowed down."""
        return self.on_cpu and bool(self.beyond) and all(row.figure in PACES for row in self.beyond)


def compared(before: Found, now: Found) -> Recheck:
    """Both have a limit. What both questions do not ask alike is not compared."""
    asked = before.basis.question, now.basis.question
    seen = same_limit(*asked) and not (is_open(before.limit) or is_open(now.limit))
    points = list(_points(before, now)) if same_points(*asked) else []
    chosen = {before.strategy, now.strategy}
    shown = [row for row in points if row.strategy in chosen or row.beyond]
    return Recheck(
        rows=(*(_limit(before, now, points) if seen else ()), *shown),
        changed=environment_differences(before.basis, now.basis, strategy=before.strategy),
        edited=question_differences(*asked),
        same_question=same_limit(*asked),
        limits_compared=seen,
        quiet=len(points) - len(shown),
        on_cpu=before.on_cpu or now.on_cpu,
    )


def is_open(limit: Mapping[str, Any]) -> bool:
    """Whether the measuring ended before it was seen if the workload fits: for want of time, or ended by others."""
    found = (limit.get("by_strategy") or {}).values()
    unseen = any(one["first_failing_context"] is None and not one["fits_workload"] for one in found)
    return unseen and not limit.get("fits_workload")


def _limit(before: Found, now: Found, points: Sequence[Row]) -> Iterator[Row]:
    was, is_now = before.limit, now.limit
    fits = bool(was.get("fits_workload")), bool(is_now.get("fits_workload"))
    context = _context(was, is_now, points)
    yield context
    yield Row(figure=Figure.FITS, before=fits[0], now=fits[1], beyond=fits[0] != fits[1])
    other = before.strategy != now.strategy and not _as_good(before, now)
    yield Row(figure=Figure.STRATEGY, before=before.strategy, now=now.strategy, beyond=other)
    limiters = was.get("limited_by"), is_now.get("limited_by")
    # What ends it matters where it ends elsewhere: of two ends within a step, either may come first.
    moved = limiters[0] != limiters[1] and (context.beyond or fits[0] != fits[1] or other)
    yield Row(figure=Figure.LIMITED_BY, before=limiters[0], now=limiters[1], beyond=bool(moved))


def _context(was: Mapping[str, Any], now: Mapping[str, Any], points: Sequence[Row]) -> Row:
    """A limit set by a speed, a time or a quality is known no better than that figure: where it did not change, nor did
    the limit. One that was not confirmed lies anywhere below the first context that failed."""
    before, after = was.get("context"), now.get("context")
    if before is None or after is None:
        return Row(figure=Figure.CONTEXT, before=before, now=after, beyond=before is not after)
    noise = limit_noise_tokens(before, after)
    low, high = sorted((was, now), key=lambda limit: int(limit["context"]))
    beyond = high["context"] - _most(low) > noise
    by = {OF_LIMITER[limit["limited_by"]] for limit in (was, now) if limit.get("limited_by") in OF_LIMITER}
    decisive = [row for row in points if row.figure in by and row.strategy in (was["strategy"], now["strategy"])]
    if beyond and decisive and not any(row.beyond for row in decisive):
        return Row(figure=Figure.CONTEXT, before=before, now=after, beyond=False)
    return Row(figure=Figure.CONTEXT, before=before, now=after, beyond=beyond, noise=noise)


def _most(limit: Mapping[str, Any]) -> int:
    """The longest context that the limit may stand for."""
    failing = limit.get("first_failing_context")
    return int(limit["context"] if limit.get("confirmed") or failing is None else max(limit["context"], failing - 1))


def _as_good(before: Found, now: Found) -> bool:
    """Whether the strategy of before would have done as well this time: then which is named is a matter of luck."""
    known = now.limit.get("by_strategy") or {}
    old, new = known.get(before.strategy), known.get(now.strategy)
    if not old or not new or old["fits_workload"] != new["fits_workload"]:
        return False
    if (old["context"] is None) or (new["context"] is None):
        return old["context"] is new["context"]
    if abs(old["context"] - new["context"]) > limit_noise_tokens(old["context"], new["context"]):
        return False
    one, other = now.points.get((before.strategy, old["context"])), now.points.get((now.strategy, new["context"]))
    if not (one and other and one.decode_tokens_per_s and other.decode_tokens_per_s):
        return False
    apart = abs(one.decode_tokens_per_s - other.decode_tokens_per_s)
    slower = min(one.decode_tokens_per_s, other.decode_tokens_per_s)
    return apart <= slower * speed_noise_part(one, other, on_cpu=now.on_cpu)


def _points(before: Found, now: Found) -> Iterator[Row]:
    """Of each strategy that ran in both, at the longest context that both measured; the answers' own first."""
    common = before.points.keys() & now.points.keys()
    named = dict.fromkeys((before.strategy, now.strategy, *(one.strategy for one in before.measurements)))
    for strategy in named:
        context = max((context for name, context in common if name == strategy), default=None)
        if context is not None:
            pair = before.points[strategy, context], now.points[strategy, context]
            weights_bytes = min(before.weights_bytes, now.weights_bytes)
            yield from point_rows(*pair, weights_bytes=weights_bytes, on_cpu=before.on_cpu or now.on_cpu)
        yield from quality_rows(quality_at(before.stages, strategy), quality_at(now.stages, strategy))
