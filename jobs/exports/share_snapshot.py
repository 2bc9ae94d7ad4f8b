"""A run's answer as others see it: frozen when the link is made, and made of figures and known words alone.

No sentence, name or path that a run recorded gets in: sentences are written anew from the figures, and what is not
named here is left out.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from jobs.charts import memory_figure, speed_figure, ttft_figure
from jobs.exports.share_allowed import (
    DEVICE,
    REVISION,
    TECHNICAL,
    VERSION,
    figure,
    figures,
    matching,
    model_named,
    plain,
    strategy_named,
    versions_of,
    word,
)
from jobs.procedure.measurement import Outcome
from jobs.procedure.snippet import generate_settings, snippet
from jobs.procedure.verdict import Limiter
from jobs.sizing.model_spec import ModelKind
from jobs.sizing.stored import AS_STORED, ON_THE_FLY
from jobs.sizing.strategy import BASELINE, Strategy
from jobs.sizing.units import DTYPE_BYTES

FORMAT = 1
WORKLOAD = ("prompt_tokens", "typical_prompt_tokens", "answer_tokens", "sequences")
BOUNDS = ("min_decode_tokens_per_s", "max_ttft_s", "max_kl")
BUDGETS = ("weights", "kv", "working", "peak")
AT_LIMIT = ("peak_bytes", "host_bytes", "decode_tokens_per_s", "all_tokens_per_s", "ttft_s", "total_s", "repeats")
BY_STRATEGY = ("context", "first_failing_context", "peak_bytes", "decode_tokens_per_s", "ttft_s")
POINT = (
    "context",
    "prompt",
    "answer",
    "sequences",
    "peak_bytes",
    "kv_bytes",
    "kv_prefill_bytes",
    "working_bytes",
    "host_bytes",
    "ttft_s",
    "decode_tokens_per_s",
    "all_tokens_per_s",
    "inter_token_p50_s",
    "inter_token_p95_s",
    "total_s",
    "repeats",
    "spread",
    "ttft_spread",
)
OUTCOMES = {str(outcome) for outcome in Outcome}
LIMITERS = {str(limiter) for limiter in Limiter}


def share_snapshot(
    *,
    question: Mapping[str, Any],
    device: Mapping[str, Any],
    environment: Mapping[str, Any],
    stages: Mapping[str, Any],
    measurements: Sequence[Mapping[str, Any]],
    model_kind: str,
    model_name: str,
    random_weights: bool,
    measured_at: str,
    freshness: str = "",
    adopted: tuple[int, str] | None = None,
) -> dict[str, Any]:
    """Plain JSON. measured_at: a moment as ISO 8601; adopted: context and strategy of the limit in force."""
    asked = figures(question, WORKLOAD) | figures(question, BOUNDS) | {"sequences": question.get("sequences") or 1}
    limit, budgets, points = _limit(stages), _budgets(stages), [_point(row) for row in measurements]
    drawn = {"budgets": budgets, "limit": _drawn_limit(limit)}
    model = _model(model_kind, model_name, environment, random_weights=random_weights)
    technical = _technical(question, environment)
    return {
        "format": FORMAT,
        "model": model,
        "workload": {name: asked[name] for name in WORKLOAD},
        "bounds": {name: asked[name] for name in BOUNDS},
        "headroom_percent": figure(question.get("headroom_percent")) or 0,
        "technical": technical,
        "device": _device(device),
        "budgets": budgets,
        "limit": limit,
        "measurements": points,
        "figures": {
            "memory": memory_figure(question={}, stages=drawn, measurements=points),
            "speed": speed_figure(question=asked, measurements=points),
            "ttft": ttft_figure(question=asked, measurements=points),
        },
        "settings": _settings(limit, asked),
        "snippet": _snippet(limit, asked, model, technical, question, environment),
        "environment": versions_of(environment),
        "measured_at": measured_at,
        "freshness": freshness,
        "adopted": {"context": adopted[0], "strategy": strategy_named(adopted[1])} if adopted else None,
    }


def _model(kind: str, name: str, environment: Mapping[str, Any], *, random_weights: bool) -> dict[str, Any]:
    revision = matching(environment.get("model_revision"), REVISION) if kind == ModelKind.HUB else ""
    return {"name": model_named(kind, name), "revision": revision, "random_weights": random_weights}


def _technical(question: Mapping[str, Any], environment: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "dtype": word(question.get("dtype"), DTYPE_BYTES),
        "weights": word(question.get("weights"), {AS_STORED, *ON_THE_FLY}) or AS_STORED,
        "attention": matching(environment.get("attention") or question.get("attention"), TECHNICAL),
        "threads": figure(environment.get("threads")),
        "own_prompts": bool(question.get("prompts_sha256")),
    }


def _device(device: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "name": plain(device.get("name")),
        "kind": word(device.get("kind"), {"cpu", "cuda"}),
        "capacity_bytes": figure(device.get("capacity_bytes")),
    }


def _budgets(stages: Mapping[str, Any]) -> dict[str, Any]:
    given = stages["budgets"]
    parts = {name: figures(given.get(name), ("estimated_bytes", "measured_bytes")) for name in BUDGETS if name in given}
    estimates = [
        {"strategy": strategy_named(row.get("strategy"))} | figures(row, ("context", "peak_bytes"))
        for row in given.get("estimates", ())
        if strategy_named(row.get("strategy"))
    ]
    sizes = figures(given, ("capacity_bytes", "headroom_bytes", "at_context"))
    return {**parts, **sizes, "estimates": estimates}


def _limit(stages: Mapping[str, Any]) -> dict[str, Any]:
    given = stages["limit"]
    rows = [_by_strategy(name, row, stages) for name, row in given["by_strategy"].items() if strategy_named(name)]
    return {
        "context": figure(given.get("context")),
        "strategy": strategy_named(given.get("strategy")) or str(BASELINE),
        "limited_by": word(given.get("limited_by"), LIMITERS),
        "first_failing_context": figure(given.get("first_failing_context")),
        "confirmed": given.get("confirmed") is True,
        "fits": given.get("fits_workload") is True,
        "open": any(row["first_failing_context"] is None and not row["fits"] for row in rows),
        "provisional": given.get("provisional") is True,
        "at_limit": figures(given.get("ran_at"), AT_LIMIT),
        "by_strategy": rows,
    }


def _by_strategy(name: str, row: Mapping[str, Any], stages: Mapping[str, Any]) -> dict[str, Any]:
    tried: Sequence[Mapping[str, Any]] = stages.get("changes") or ()
    quality = next((change.get("quality") for change in tried if change.get("strategy") == name), None)
    return {
        "strategy": strategy_named(name),
        **figures(row, BY_STRATEGY),
        "limited_by": word(row.get("limited_by"), LIMITERS),
        "confirmed": row.get("confirmed") is True,
        "fits": row.get("fits_workload") is True,
        **figures(quality, ("mean_kl",)),
    }


def _drawn_limit(limit: Mapping[str, Any]) -> dict[str, Any]:
    label = Strategy.parse(limit["strategy"]).label
    return {**limit, "label": label, "ran_at": limit["at_limit"]}


def _point(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "strategy": strategy_named(row.get("strategy")) or str(BASELINE),
        "outcome": word(row.get("outcome"), OUTCOMES) or str(Outcome.FAILED),
        "noisy": row.get("noisy") is True,
        **figures(row, POINT),
    }


def _settings(limit: Mapping[str, Any], asked: Mapping[str, Any]) -> dict[str, Any]:
    return generate_settings(Strategy.parse(limit["strategy"]), int(asked["answer_tokens"] or 0))


def _snippet(
    limit: Mapping[str, Any],
    asked: Mapping[str, Any],
    model: Mapping[str, Any],
    technical: Mapping[str, Any],
    question: Mapping[str, Any],
    environment: Mapping[str, Any],
) -> str:
    return snippet(
        Strategy.parse(limit["strategy"]),
        model=model["name"],
        answer_tokens=int(asked["answer_tokens"] or 0),
        dtype=technical["dtype"],
        attention=technical["attention"],
        device=matching(question.get("device"), DEVICE) or "cpu",
        random_weights=model["random_weights"],
        gguf_file=matching(environment.get("gguf_file"), VERSION) or None,
        weights=technical["weights"],
    )
