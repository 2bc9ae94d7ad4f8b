"""Three stories of real users, run for real on a CPU in the proportions of their figures.

An 8B model on a 24 GB card: beside the weights, 128 KiB of cache and about 100 KiB of working memory a token, so that
the normal cache ends at a quarter of the prompt asked for. Here a small architecture with the same proportions stands
for it, in a capacity that ends its normal cache at the same part.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from jobs.procedure.defaults import MAX_KL
from jobs.procedure.estimate import Estimator
from jobs.procedure.events import EventKind
from jobs.procedure.question import Question
from jobs.procedure.run import answer
from jobs.running.bench import ProcessBench
from jobs.running.inspection import inspect_model
from jobs.running.process import MeasuringProcess
from jobs.sizing.model_spec import ModelKind, ModelSpec
from jobs.sizing.record import InspectionRecord
from jobs.sizing.strategy import BASELINE, Strategy
from jobs.sizing.units import MIB, bytes_text
from tests import real_model
from tests.bench.peak_variants import SIZES
from tests.bench.row import Row, benchmark
from tests.gpu.offload_standin import write_python

# 20 KiB of cache and 16 KiB of working memory a token, in float32: 128 to 100. A quantized cache works on one layer at
# a time, so that it takes many layers for that to be as small a part as in a large model.
PROPORTIONED: dict[str, Any] = SIZES | {
    "model_type": "llama",
    "num_hidden_layers": 20,
    "num_key_value_heads": 2,
    "intermediate_size": 1024,
}
WINDOWED: dict[str, Any] = PROPORTIONED | {"model_type": "mistral", "sliding_window": 256}
BUS_BYTES_PER_S = 300 * MIB
SMOLLM2_TOKEN_BYTES = 30 * 3 * 2 * 64 * 2
ONE_STRATEGY_EACH = ("static", "quantized:hqq:8", "quantized:hqq:4", "chunked:512")


@dataclass(frozen=True, kw_only=True)
class Told:
    """What a run answered."""

    stages: dict[str, Any]

    @property
    def limit(self) -> dict[str, Any]:
        return dict(self.stages["limit"])

    def context(self, strategy: str) -> int:
        return self.limit["by_strategy"][strategy]["context"] or 0

    def change(self, strategy: str) -> dict[str, Any]:
        return next(change for change in self.stages["changes"] if change["strategy"] == strategy)


@benchmark("limit")
def the_honest_no() -> Iterator[Row]:
    """Prompt 120,000 on 24 GB, where the normal cache ends near 26,000."""
    told = run(small(PROPORTIONED), prompt=4096, answer_tokens=32, ends_at=900, strategies=ONE_STRATEGY_EACH)
    reach = {name: told.context(name) for name in ("default", "quantized:hqq:8", "quantized:hqq:4")}
    said = ", ".join(f"{name} {context:,}" for name, context in reach.items())
    rising = list(reach.values()) == sorted(reach.values())
    yield claim(f"story 1: nothing fits 4,128; {said}", not told.limit["fits_workload"] and rising)
    parts = {name: context / reach["default"] for name, context in reach.items()}
    yield near("story 1: 8 bits carry this many times the normal cache", parts["quantized:hqq:8"], 36 / 26)
    yield near("story 1: 4 bits carry this many times the normal cache", parts["quantized:hqq:4"], 44 / 26)
    changes = {row["what"] for row in told.limit["to_change"]}
    yield claim(f"story 1: what would have to change: {', '.join(sorted(changes))}", {"capacity", "prompt"} <= changes)


@benchmark("limit")
def offloading_is_right() -> Iterator[Row]:
    """Prompt 50,000 on 24 GB, at least 1 token/s; the real SmolLM2-135M, and a stand-in for offloading."""
    with TemporaryDirectory() as folder:
        python = Path(folder) / "python"
        write_python(python, bus_bytes_per_s=BUS_BYTES_PER_S)
        told = run(
            ModelSpec(kind=ModelKind.FOLDER, name="SmolLM2-135M", path=str(real_model.make())),
            dtype="bfloat16",
            prompt=2304,
            answer_tokens=16,
            ends_at=1088,
            strategies=("quantized:hqq:4", "quantized:quanto:2", "offloaded"),
            min_decode_tokens_per_s=1.0,
            max_kl=MAX_KL,
            start=partial(MeasuringProcess, python=str(python)),
        )
    where = "offloading by a stand-in" if "stand-in" in told.limit["holds_for"] else "a GPU"
    reach = {name: told.context(name) for name in ("default", "quantized:hqq:4", "offloaded")}
    said = ", ".join(f"{name} {context:,}" for name, context in reach.items())
    right = told.limit["fits_workload"] and told.limit["strategy"] == "offloaded"
    yield claim(f"story 2 ({where}): {said}; offloaded is recommended", right)
    ran = told.limit["ran_at"]
    kv_bytes = (ran["context"] - 1) * SMOLLM2_TOKEN_BYTES
    name = f"story 2: CPU RAM {bytes_text(ran['host_bytes'])} of a cache of {bytes_text(kv_bytes)}"
    yield claim(name, kv_bytes * 28 // 30 <= ran["host_bytes"] <= kv_bytes)
    speed = ran["decode_tokens_per_s"]
    yield claim(f"story 2: {speed:.2g} tokens/s where at least 1 was asked for", speed >= 1)
    two_bits = told.limit["by_strategy"]["quantized:quanto:2"]
    quality = told.change("quantized:quanto:2")["quality"]
    name = f"story 2: quanto 2 bits, mean KL {quality['mean_kl']:.2g}, is limited by {two_bits['limited_by']}"
    yield claim(name, two_bits["limited_by"] == "quality" and quality["mean_kl"] > MAX_KL)


@benchmark("limit")
def quantization_is_a_bad_idea() -> Iterator[Row]:
    """Prompt 2,000 on 80 GB, compared anyway; then the same question for a windowed model."""
    asked = {"prompt": 512, "answer_tokens": 64, "compare_anyway": True, "strategies": ("quantized:hqq:4",)}
    told = run(small(PROPORTIONED), capacity_bytes=2**30, **asked)
    cost = told.change("quantized:hqq:4")["cost"]
    name = (
        f"story 3: 4 bits save {bytes_text(cost['saved_bytes'])} and answer at {cost['decode_ratio']:.0%} of the speed"
    )
    kept = told.limit["strategy"] == str(BASELINE) and "No change is needed" in told.limit["verdict"]
    yield claim(name, kept and cost["decode_ratio"] < 1)
    told = run(small(WINDOWED), capacity_bytes=2**30, **asked)
    change = told.change("quantized:hqq:4")
    drawn = {row["strategy"] for row in told.stages["budgets"]["estimates"]}
    refused = change["applicable"] is False and "full attention" in change["reason"] and drawn == {"default"}
    yield claim(f"story 3: for a windowed model “{change['reason']}”, and nothing is drawn", refused)


def small(config: dict[str, Any]) -> ModelSpec:
    return ModelSpec(kind=ModelKind.ARCHITECTURE, name="small", config=config, random_weights=True)


def run(
    spec: ModelSpec,
    *,
    prompt: int,
    strategies: tuple[str, ...],
    dtype: str = "float32",
    ends_at: int | None = None,
    start: Callable[..., MeasuringProcess] = MeasuringProcess,
    **asked: Any,
) -> Told:
    """The whole procedure; `ends_at`: the prompt that the capacity is just enough for, as estimated."""
    record = inspect_model(spec, dtypes=[dtype], strategies=[str(BASELINE), *strategies])
    question = Question(
        model=spec.name,
        prompt_tokens=prompt,
        typical_prompt_tokens=prompt // 4,
        dtype=dtype,
        headroom_percent=0,
        strategies=tuple(map(Strategy.parse, strategies)),
        **asked,
    )
    if ends_at is not None:
        question = replace(question, capacity_bytes=_capacity(question, record, ends_at))
    with ProcessBench(spec=spec, question=question, cancelled=lambda: False, tell=lambda _: None, start=start) as bench:
        events = [event.data for event in answer(question, record, bench) if event.kind is EventKind.STAGE_FINISHED]
    return Told(stages={data["stage"]: data["result"] for data in events})


def claim(name: str, holds: bool) -> Row:
    return Row(area="limit", name=name, value=float(holds), unit="", target=1, holds=holds)


def near(name: str, value: float, target: float) -> Row:
    """Within a fifth: the story's figures are arithmetic for another model."""
    return Row(area="limit", name=name, value=value, unit="×", target=target, holds=abs(value / target - 1) < 0.2)


def _capacity(question: Question, record: InspectionRecord, prompt: int) -> int:
    return Estimator.of(question, record, BASELINE).at(prompt).peak_bytes + MIB // 2
