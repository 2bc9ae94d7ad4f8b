"""Stage 1: weights, KV cache and working memory estimated, then measured beside it."""

from collections.abc import Generator
from itertools import takewhile
from typing import Any

from jobs.procedure.contexts import Grid, grid_to, longest_prompt, short_prompt, shorter_prompt
from jobs.procedure.estimate import Estimator
from jobs.procedure.estimate_rows import estimate_rows
from jobs.procedure.events import Event, EventKind, Stage
from jobs.procedure.evidence import Evidence, log
from jobs.procedure.measurement import Bench, Loaded, Measurement
from jobs.procedure.question import Question
from jobs.procedure.verdict import Bounds
from jobs.procedure.words import bytes_text, tokens_text
from jobs.sizing.record import InspectionRecord
from jobs.sizing.strategy import BASELINE


def begin(question: Question, record: InspectionRecord, bench: Bench) -> Generator[Event, None, Evidence]:
    """Estimate the workload's longest, load the model, and open the book of evidence."""
    prompt = longest_prompt(question, record.native_context)
    estimator = Estimator.of(question, record, BASELINE)
    estimate = estimator.at(prompt)
    yield log(
        f"Estimated for {tokens_text(prompt + question.answer_tokens)} with the normal cache: "
        f"weights {bytes_text(estimate.weights_bytes)}, KV cache {bytes_text(estimate.kv_bytes)}, "
        f"working memory {bytes_text(estimate.working_bytes)}; {bytes_text(estimate.peak_bytes)} at the peak."
    )
    if prompt != question.prompt_tokens:
        yield log(f"Prompts are multiples of 4 tokens: {prompt:,} stands for {question.prompt_tokens:,}.")
    loaded = bench.load()
    yield Event(kind=EventKind.LOADED, data=_loaded(loaded, record))
    bounds = Bounds.of(question, int(loaded.device["capacity_bytes"]))
    grid = grid_to(prompt)
    return Evidence(
        question=question,
        record=record,
        bench=bench,
        loaded=loaded,
        bounds=bounds,
        grid=grid,
        short=_short(estimator, bounds, grid),
    )


def budgets(evidence: Evidence) -> Generator[Event, None, dict[str, Any]]:
    """One short real run beside its estimate, and the estimate for the workload's longest context."""
    prompt = evidence.short
    estimate = evidence.estimator(BASELINE).at(prompt)
    measured = yield from evidence.measure(Stage.BUDGETS, BASELINE, prompt)
    return {
        "weights": beside(estimate.weights_bytes, evidence.loaded.weights_bytes),
        "kv": beside(estimate.kv_bytes, measured.kv_bytes),
        "working": beside(estimate.working_bytes, measured.working_bytes),
        "peak": beside(estimate.peak_bytes, measured.peak_bytes),
        "headroom_bytes": evidence.bounds.headroom_bytes,
        "capacity_bytes": evidence.bounds.capacity_bytes,
        "at_context": measured.context,
        **of_cards(measured),
        "workload": _workload(evidence),
        "estimates": estimate_rows(evidence.question, evidence.record, evidence.grid.longest),
    }


def beside(estimated: int, measured: int | None) -> dict[str, Any]:
    """The error is of the estimate, in percent of what was measured; None where nothing was measured."""
    error = None if not measured else round(100 * (estimated - measured) / measured, 2) or 0.0
    return {"estimated_bytes": estimated, "measured_bytes": measured, "error_percent": error}


def of_cards(measured: Measurement) -> dict[str, Any]:
    """Of a run on GPUs: what the CUDA contexts take of the working memory, and each card's figures."""
    cards = measured.by_device or {}
    if not cards:
        return {}
    return {"context_bytes": sum(int(card["context_bytes"]) for card in cards.values()), "by_device": dict(cards)}


def _workload(evidence: Evidence) -> dict[str, Any]:
    prompt = evidence.grid.longest
    estimate = evidence.estimator(BASELINE).at(prompt)
    return {
        "context": prompt + evidence.question.answer_tokens,
        "kv_prompt_bytes": estimate.kv_prefill_bytes,
        "kv_answer_bytes": max(0, estimate.kv_bytes - estimate.kv_prefill_bytes),
        "kv_bytes": estimate.kv_bytes,
        "working_bytes": estimate.working_bytes,
        "weights_bytes": estimate.weights_bytes,
        "peak_bytes": estimate.peak_bytes,
        "phase": str(estimate.phase),
        "host_bytes": estimate.host_bytes,
        "fits": estimate.peak_bytes <= evidence.bounds.budget_bytes,
    }


def _short(estimator: Estimator, bounds: Bounds, grid: Grid) -> int:
    """A context that is expected to fit, so that there is something to compare with."""
    usual = short_prompt(grid.longest)
    if estimator.at(usual).peak_bytes <= bounds.budget_bytes:
        return usual
    fitting = takewhile(lambda prompt: estimator.at(prompt).peak_bytes <= bounds.budget_bytes, grid.prompts)
    return shorter_prompt(grid, max(fitting, default=None))


def _loaded(loaded: Loaded, record: InspectionRecord) -> dict[str, Any]:
    """config_hash: of the config as the inspection read it, which later inspections' can be compared with."""
    return {
        "device": dict(loaded.device),
        "environment": dict(loaded.environment),
        "config_hash": record.config_hash,
        "weights_bytes": loaded.weights_bytes,
        "load_s": loaded.load_s,
        "random_weights": loaded.random_weights,
    }
