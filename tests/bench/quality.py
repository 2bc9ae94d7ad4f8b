"""Quality rows of a real model's quantized caches, near a workload's limit: their order, and the bound between them."""

import os
from collections.abc import Iterator

from jobs.procedure.defaults import MAX_KL
from jobs.procedure.quality import Quality, QualityAsk
from jobs.running.process import MeasuringProcess
from jobs.sizing.model_spec import ModelKind, ModelSpec
from jobs.sizing.strategy import Strategy
from tests import real_model
from tests.bench.row import Row, at_most, benchmark

PATIENCE_S = 600.0
CONTEXT_TOKENS = 1056
FINE = ("quantized:hqq:8", "quantized:fp8", "quantized:hqq:4", "quantized:quanto:4")
COARSE = ("quantized:hqq:2", "quantized:quanto:2")
MOST_S = 15.0  # a strategy, the normal cache's own pass included


@benchmark("limit")
def quality() -> Iterator[Row]:
    """Mean KL of each; those of 4 bits and more keep the usual bound, those of 2 bits do not."""
    found = _scored()
    for name in FINE:
        yield at_most("limit", f"quality of {name}, mean KL", found[name].mean_kl or 0.0, "nats", MAX_KL)
    for name in COARSE:
        kl = found[name].mean_kl or 0.0
        yield Row(
            area="limit", name=f"{name} is refused, mean KL", value=kl, unit="nats", target=MAX_KL, holds=kl > MAX_KL
        )
    kls = [found[name].mean_kl or 0.0 for name in FINE]
    worst_four = max(kls[2:])
    ordered = kls[0] < kls[1] < min(kls[2:]) and worst_four < min(found[name].mean_kl or 0.0 for name in COARSE)
    yield Row(
        area="limit", name="8 bits < fp8 < 4 bits < 2 bits", value=float(ordered), unit="", target=1, holds=ordered
    )
    seconds = [quality.elapsed_s or 0.0 for quality in found.values()]
    yield at_most("limit", "scoring a strategy, mean of six", sum(seconds) / len(seconds), "s", MOST_S)


def _scored() -> dict[str, Quality]:
    spec = ModelSpec(kind=ModelKind.FOLDER, name=real_model.FOLDER.name, path=str(real_model.make()))
    with MeasuringProcess(environment=dict(os.environ)) as process:
        how = {"dtype": "float32", "device": "cpu", "attention": "sdpa"}
        process.request("load", patience_s=PATIENCE_S, model=spec.as_json(), **how)
        return {name: _score(process, name) for name in (*FINE, *COARSE)}


def _score(process: MeasuringProcess, name: str) -> Quality:
    ask = QualityAsk(strategy=Strategy.parse(name), context_tokens=CONTEXT_TOKENS)
    return Quality.from_json(process.request("quality", patience_s=PATIENCE_S, **ask.as_json()))
