"""Stage 3: one strategy at a time, everything else as in the baseline."""

from collections.abc import Generator
from typing import Any

from jobs.procedure.cost import cost
from jobs.procedure.events import Event, Stage
from jobs.procedure.evidence import Evidence, log
from jobs.procedure.measurement import Measurement, Outcome
from jobs.procedure.one_change import is_proven, settings_changed
from jobs.procedure.scoring import score
from jobs.procedure.verdict import KILLED, told
from jobs.procedure.words import with_strategy
from jobs.sizing.budgets import refusal_of
from jobs.sizing.strategy import BASELINE, Strategy

TIME_CAP = "time_cap"
NOT_NEEDED = "not needed: the normal cache fits the workload"
NOT_TRIED = "not tried: memory is not what limits the normal cache"


def changes(evidence: Evidence, *, memory_limits: bool) -> Generator[Event, None, list[dict[str, Any]]]:
    """Each strategy of the question, or why it was left out."""
    strategies = [strategy for strategy in evidence.question.strategies if strategy != BASELINE]
    if not memory_limits and not evidence.question.compare_anyway:
        fits = evidence.fits(BASELINE)
        yield log("No change is needed, so none was tried." if fits else "Memory is not the limit: none was tried.")
        reason = NOT_NEEDED if fits else NOT_TRIED
        return [_left_out(strategy, applicable=None, reason=reason) for strategy in strategies]
    results = []
    for strategy in strategies:
        results.append((yield from _try(evidence, strategy)))
    # Together and last: the normal cache's distributions at a context then serve every strategy that reached it.
    for strategy in tried(results):
        if strategy.is_quantized:
            yield from score(evidence, strategy)
    return [_with_quality(evidence, result) for result in results]


def tried(results: list[dict[str, Any]]) -> list[Strategy]:
    """The strategies that ran, in order."""
    return [Strategy.parse(result["strategy"]) for result in results if result["applicable"]]


def _try(evidence: Evidence, strategy: Strategy) -> Generator[Event, None, dict[str, Any]]:
    reason = refusal(evidence, strategy)
    if reason is None:
        yield from _measure(evidence, strategy)
        reason = _failure(evidence, strategy)
    changed = _changed(evidence, strategy)
    if reason is None and changed is not None and not is_proven(strategy, changed):
        reason = f"it is not comparable: its settings differ from the baseline's in {', '.join(changed)}"
    if reason is not None:
        unknown = _was_not_its_own(evidence, strategy)
        yield log(f"Not {'measured' if unknown else 'possible'} {with_strategy(strategy)}: {reason}")
        applicable = None if unknown else False
        return _left_out(strategy, applicable=applicable, reason=reason, measurements=evidence.of(strategy))
    return {
        "strategy": str(strategy),
        "label": strategy.label,
        "applicable": True,
        "reason": "",
        "settings_changed": changed or {},
        "changes": strategy.changes,
        "one_change_proven": changed is not None,
        "measurements": [measurement.as_json() for measurement in evidence.of(strategy)],
        "cost": cost(evidence.at(BASELINE, evidence.short), evidence.at(strategy, evidence.short)),
        "quality": None,
    }


def _with_quality(evidence: Evidence, result: dict[str, Any]) -> dict[str, Any]:
    """At the longest context that was scored: what it costs there is what decides."""
    qualities = evidence.qualities(Strategy.parse(result["strategy"]))
    return result | {"quality": qualities[0].as_json() if qualities else None}


def refusal(evidence: Evidence, strategy: Strategy) -> str | None:
    """Why it cannot be tried at all: this model's reason, or this device's."""
    refused = refusal_of(evidence.record, strategy)
    if refused is not None:
        return refused
    if strategy.is_offloaded and evidence.loaded.device["kind"] == "cpu":
        return "offloading moves the cache between a GPU and the CPU's memory; this device is a CPU"
    return None


def _measure(evidence: Evidence, strategy: Strategy) -> Generator[Event, None, None]:
    """The short context, then the workload's longest or, where that is not expected to fit, the corrected edge."""
    short = yield from evidence.measure(Stage.CHANGES, strategy, evidence.short)
    if short.outcome in (Outcome.FAILED, Outcome.SKIPPED):
        return
    yield from evidence.measure_edge(Stage.CHANGES, strategy, below=None)


def _failure(evidence: Evidence, strategy: Strategy) -> str | None:
    measurements = evidence.of(strategy)
    if any(m.outcome in (Outcome.OK, Outcome.OUT_OF_MEMORY) for m in measurements):
        return None
    return told(measurements[0])


def _was_not_its_own(evidence: Evidence, strategy: Strategy) -> bool:
    """Whether time ran out or the process was killed from outside: which says nothing about the strategy."""
    return any((measurement.error or {}).get("code") in (TIME_CAP, KILLED) for measurement in evidence.of(strategy))


def _changed(evidence: Evidence, strategy: Strategy) -> dict[str, dict[str, Any]] | None:
    """What differs in the recorded settings at the first context where both have any; None where there is none."""
    for measurement in evidence.of(strategy):
        baseline = evidence.at(BASELINE, measurement.prompt)
        if measurement.settings and baseline is not None and baseline.settings:
            return settings_changed(baseline.settings, measurement.settings)
    return None


def _left_out(
    strategy: Strategy, *, applicable: bool | None, reason: str, measurements: list[Measurement] | None = None
) -> dict[str, Any]:
    return {
        "strategy": str(strategy),
        "label": strategy.label,
        "applicable": applicable,
        "reason": reason,
        "settings_changed": {},
        "changes": strategy.changes,
        "one_change_proven": None,
        "measurements": [measurement.as_json() for measurement in measurements or []],
        "cost": None,
        "quality": None,
    }
