"""The limit against the truth: the procedure's answer beside an exhaustive search, every step run for real.

Both hold each run to the same capacity. The truth of a pair is the longest context that ran below the first that did
not; where memory is not monotonic, longer ones may have run too, and the row says so.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from jobs.procedure.contexts import grid_to
from jobs.procedure.estimate import Estimator
from jobs.procedure.events import EventKind
from jobs.procedure.measurement import Ask
from jobs.procedure.question import Question
from jobs.procedure.run import answer
from jobs.procedure.verdict import Bounds, judge
from jobs.running.bench import ProcessBench
from jobs.running.inspection import inspect_model
from jobs.sizing.model_spec import ModelKind, ModelSpec
from jobs.sizing.record import InspectionRecord
from jobs.sizing.strategy import BASELINE, Strategy
from tests.bench.peak_variants import CONFIGS, SIZES
from tests.bench.row import Row, benchmark

LONGEST_PROMPT, ANSWER_TOKENS = 2048, 16
LEAST_PART = 0.97
THREE_TIMES = 3
WIDE_CACHE = {"num_key_value_heads": 8}  # a step of 64 tokens is well above the noise of a reading
MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "full": ("llama", SIZES | WIDE_CACHE),
    "windowed": ("mistral", CONFIGS["mistral"] | WIDE_CACHE),
    "MLA": ("deepseek_v3", CONFIGS["deepseek_v3"]),
    "hybrid": ("granitemoehybrid", CONFIGS["granitemoehybrid"]),
    "MQA": ("llama", SIZES | {"num_key_value_heads": 1, "head_dim": 256}),
}


@dataclass(frozen=True, kw_only=True)
class Pair:
    """A model and a strategy. fit_part: where in the grid the capacity is expected to end, by the estimate."""

    model: str
    strategy: str
    dtype: str = "float32"
    fit_part: float = 0.7
    times: int = 1

    @property
    def name(self) -> str:
        return f"{self.model} {self.strategy} {self.dtype}"


PAIRS = (
    Pair(model="full", strategy="default", times=THREE_TIMES),
    Pair(model="full", strategy="default", dtype="bfloat16", fit_part=0.8),
    Pair(model="full", strategy="static", fit_part=0.55),
    Pair(model="full", strategy="quantized:hqq:8"),
    Pair(model="full", strategy="quantized:hqq:4", times=THREE_TIMES),
    Pair(model="full", strategy="quantized:quanto:4", fit_part=0.6),
    Pair(model="full", strategy="chunked:512", times=THREE_TIMES),
    Pair(model="windowed", strategy="default"),
    Pair(model="windowed", strategy="chunked:512", fit_part=0.4),
    Pair(model="windowed", strategy="static"),
    Pair(model="MLA", strategy="default"),
    Pair(model="MLA", strategy="chunked:512"),
    Pair(model="hybrid", strategy="default"),
    Pair(model="MQA", strategy="default", fit_part=0.45),
    Pair(model="MQA", strategy="quantized:hqq:4"),
    Pair(model="MQA", strategy="quantized:quanto:4"),
)


@dataclass(frozen=True, kw_only=True)
class Truth:
    """Contexts in tokens: `longest` below the first that did not run; `beyond`: the longest that ran at all."""

    longest: int
    beyond: int


@benchmark("limit")
def limits_against_the_truth() -> Iterator[Row]:
    for pair in PAIRS:
        yield from rows_of(pair)


def rows_of(pair: Pair) -> Iterator[Row]:
    spec, record = spec_of(pair), record_of(pair.model, pair.dtype)
    question = question_of(pair, record)
    truth = exhaustive(spec, question)
    limits = [procedure_limit(spec, question, record) for _ in range(pair.times)]
    name = f"{pair.name}: limit {limits[0]:,}, the truth {_told(truth)}"
    holds = least_acceptable(truth.longest) <= limits[0] <= truth.longest
    yield Row(area="limit", name=name, value=limits[0] / truth.longest, unit="", target=LEAST_PART, holds=holds)
    if pair.times > 1:
        name = f"{pair.name}: {pair.times} times over: {', '.join(f'{limit:,}' for limit in limits)}"
        different = len(set(limits))
        yield Row(area="limit", name=name, value=different, unit="", target=1, holds=different == 1)


def least_acceptable(truth: int) -> int:
    """97 % of the truth, or one step below it where that is less."""
    contexts = [prompt + ANSWER_TOKENS for prompt in grid_to(LONGEST_PROMPT).prompts]
    below = [context for context in contexts if context < truth]
    return min(math.ceil(LEAST_PART * truth), below[-1] if below else truth)


def exhaustive(spec: ModelSpec, question: Question) -> Truth:
    """Every step of the grid, run under the capacity."""
    ran: dict[int, bool] = {}
    with ProcessBench(spec=spec, question=question, cancelled=lambda: False, tell=_nothing) as bench:
        bounds = Bounds.of(question, int(bench.load().device["capacity_bytes"]))
        for prompt in grid_to(LONGEST_PROMPT).prompts:
            verdict = judge(bench.measure(_ask(question, prompt, bounds.capacity_bytes)), bounds)
            ran[prompt + ANSWER_TOKENS] = verdict is not None and verdict.acceptable
    first_failing = min((context for context, did in ran.items() if not did), default=max(ran) + 1)
    return Truth(
        longest=max(context for context in ran if context < first_failing),
        beyond=max(context for context, did in ran.items() if did),
    )


def procedure_limit(spec: ModelSpec, question: Question, record: InspectionRecord) -> int:
    """The context that the whole procedure promises for the pair's strategy; 0 where it promises none."""
    with ProcessBench(spec=spec, question=question, cancelled=lambda: False, tell=_nothing) as bench:
        events = list(answer(question, record, bench))
    stages = {e.data["stage"]: e.data["result"] for e in events if e.kind is EventKind.STAGE_FINISHED}
    return stages["limit"]["by_strategy"][str(_strategy(question))]["context"] or 0


def spec_of(pair: Pair) -> ModelSpec:
    model_type, config = MODELS[pair.model]
    fields = {"model_type": model_type} | config
    return ModelSpec(kind=ModelKind.ARCHITECTURE, name=pair.model, config=fields, random_weights=True)


@cache
def record_of(model: str, dtype: str) -> InspectionRecord:
    """Of every strategy that is asked of the model."""
    mine = [pair for pair in PAIRS if pair.model == model]
    strategies = sorted({str(BASELINE), *(pair.strategy for pair in mine)})
    return inspect_model(spec_of(mine[0]), dtypes=[dtype], strategies=strategies)


def question_of(pair: Pair, record: InspectionRecord) -> Question:
    """A capacity at which the estimate ends in the middle of the grid, between two of its steps."""
    strategy = Strategy.parse(pair.strategy)
    question = Question(
        model=pair.model,
        prompt_tokens=LONGEST_PROMPT,
        typical_prompt_tokens=LONGEST_PROMPT // 4,
        answer_tokens=ANSWER_TOKENS,
        dtype=pair.dtype,
        headroom_percent=0,
        strategies=() if strategy == BASELINE else (strategy,),
        compare_anyway=True,
    )
    prompt = 4 * round(pair.fit_part * LONGEST_PROMPT / 4)
    return replace(question, capacity_bytes=Estimator.of(question, record, strategy).at(prompt).peak_bytes)


def _strategy(question: Question) -> Strategy:
    return question.strategies[0] if question.strategies else BASELINE


def _ask(question: Question, prompt: int, capacity_bytes: int) -> Ask:
    return Ask(
        stage="exhaustive",
        strategy=_strategy(question),
        prompt_tokens=prompt,
        answer_tokens=ANSWER_TOKENS,
        sequences=1,
        capacity_bytes=capacity_bytes,
    )


def _nothing(message: str) -> None:
    """The benchmark prints its rows alone."""


def _told(truth: Truth) -> str:
    beyond = f" (longer ones ran too, up to {truth.beyond:,})" if truth.beyond > truth.longest else ""
    return f"{truth.longest:,}{beyond}"
