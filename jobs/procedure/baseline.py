"""Stage 2: the normal cache, at short, typical and long contexts, up to the edge of memory and beyond it."""

from collections.abc import Generator
from typing import Any

from jobs.procedure.contexts import typical_prompt
from jobs.procedure.events import Event, Stage
from jobs.procedure.evidence import Evidence, log
from jobs.procedure.measurement import Measurement, Outcome
from jobs.procedure.verdict import KILLED, Limiter, told, was_killed
from jobs.procedure.words import bytes_text, tokens_text
from jobs.sizing.refusal import Refusal
from jobs.sizing.strategy import BASELINE

FAR_TIMES = 2  # on a CPU a shape is warmed without a limit first: that must not fill the machine


def baseline(evidence: Evidence) -> Generator[Event, None, dict[str, Any]]:
    """At most five contexts: short, typical, the longest (or as far as can be), and two at the edge."""
    short = yield from _measure_short(evidence)
    far = far_prompt(evidence)
    if short.outcome is Outcome.OUT_OF_MEMORY:
        far = short.prompt
        yield log("Not even the short context fits, so longer ones are not tried.")
    elif far < evidence.grid.longest:
        yield log(_far_off(evidence, far))
    typical = typical_prompt(evidence.question, evidence.grid.longest)
    for prompt in sorted({min(typical, far), far}):
        yield from evidence.measure(Stage.BASELINE, BASELINE, prompt)
    limits = memory_limits(evidence)
    if limits:
        yield from evidence.measure_edge(Stage.BASELINE, BASELINE, below=far)
    yield log(_conclusion(evidence, limits=limits))
    return {
        "measurements": [measurement.as_json() for measurement in evidence.of(BASELINE)],
        "memory_limits": limits,
    }


def memory_limits(evidence: Evidence) -> bool:
    """Whether memory keeps the normal cache from the workload's longest context: as measured, else as predicted."""
    judged = evidence.judged(BASELINE)
    longest = evidence.at(BASELINE, evidence.grid.longest)
    if any(verdict.limiter is Limiter.MEMORY for _, verdict in judged):
        return True
    if longest is not None and longest.outcome is Outcome.OK:
        return False
    return evidence.curve(BASELINE).peak_bytes(evidence.grid.longest) > evidence.bounds.budget_bytes


def far_prompt(evidence: Evidence) -> int:
    """The workload's longest; on a CPU, no further than needs twice what the capacity leaves beside the weights."""
    longest = evidence.grid.longest
    if evidence.loaded.device["kind"] != "cpu":
        return longest
    weights = evidence.loaded.weights_bytes
    most = weights + FAR_TIMES * max(0, evidence.bounds.capacity_bytes - weights)
    curve = evidence.curve(BASELINE)
    if curve.peak_bytes(longest) <= most:
        return longest
    within = [prompt for prompt in evidence.grid.prompts if curve.peak_bytes(prompt) <= most]
    return max(within, default=evidence.grid.prompts[0])


def _measure_short(evidence: Evidence) -> Generator[Event, None, Measurement]:
    short = yield from evidence.measure(Stage.BASELINE, BASELINE, evidence.short)
    if was_killed(short):
        raise Refusal(KILLED, told(short), "Run it again, with more memory free on the worker if it was short of it.")
    if short.outcome is Outcome.FAILED:
        raise Refusal(
            "baseline_failed",
            f"The normal cache failed at {tokens_text(short.context)}: {told(short)}",
            "Nothing can be compared with a baseline that does not run; try another precision or model revision.",
        )
    return short


def _far_off(evidence: Evidence, far: int) -> str:
    answer = evidence.question.answer_tokens
    return (
        f"The workload's {tokens_text(evidence.grid.longest + answer)} are far beyond this memory, so the normal "
        f"cache is measured no further than {tokens_text(far + answer)}: about twice what the capacity leaves beside "
        "the weights."
    )


def _conclusion(evidence: Evidence, *, limits: bool) -> str:
    context = tokens_text(evidence.grid.longest + evidence.question.answer_tokens)
    budget = bytes_text(evidence.bounds.budget_bytes)
    if limits:
        return f"Memory is the limit: the normal cache does not fit the workload's {context} within {budget}."
    longest = evidence.at(BASELINE, evidence.grid.longest)
    if longest is None or longest.outcome is not Outcome.OK:
        return (
            f"The normal cache is expected to fit the workload's {context} within {budget} (predicted: it did not run)."
        )
    more = "; no change is needed" if evidence.fits(BASELINE) else ""
    return f"Memory is not the limit: the normal cache fits the workload's {context} within {budget}{more}."
