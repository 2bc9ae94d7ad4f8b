"""What measuring costs beside the generate() calls themselves: a whole run, its warm-ups, a token's speed."""

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import permutations
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import IO, Any, cast

from jobs.procedure.events import EventKind
from jobs.procedure.measurement import Ask, Measurement
from jobs.procedure.question import Question
from jobs.procedure.run import answer
from jobs.running.bench import ProcessBench
from jobs.running.inspection import inspect_model
from jobs.running.process import ROOT, MeasuringProcess
from jobs.sizing.model_spec import ModelKind, ModelSpec
from jobs.sizing.record import InspectionRecord
from jobs.sizing.strategy import BASELINE, Strategy
from jobs.sizing.units import GIB, MIB
from tests import real_model
from tests.bench.row import Row, at_most, benchmark

STRATEGIES = tuple(map(Strategy.parse, ("static", "quantized:hqq:4", "chunked:256")))
FITS = {"capacity_bytes": GIB}
MEMORY_LIMITS = {"capacity_bytes": 310 * MIB, "strategies": STRATEGIES}
MOST_TIMES, MOST_INSPECTION_S = 1.25, 60.0
MOST_CONTEXTS = {"baseline": 6, "changes": 4, "limit": 3}
LEAST_PART_OF_SPEED = 0.98
LEAST_PART_WITH_ALLOCATOR = 0.9  # its price is known: docs/measured.md
PATIENCE_S, WARM_TOKENS = 300.0, 2
ROUNDS, PROMPT_TOKENS, ANSWER_TOKENS = 18, 64, 64  # three times each order of three


@dataclass(kw_only=True)
class Spent:
    """Seconds of a run: in starting processes (import included), loading, scoring quality, and altogether."""

    start_s: float = 0.0
    load_s: float = 0.0
    quality_s: float = 0.0
    wall_s: float = 0.0
    starts: int = 0
    measurements: list[Measurement] = field(default_factory=list)

    @property
    def generate_s(self) -> float:
        return sum(one.generate_s or 0.0 for one in self.measurements)

    @property
    def warm_s(self) -> float:
        return sum(one.warm_s or 0.0 for one in self.measurements)


class TimedProcess(MeasuringProcess):
    """Adds its own start and its loading to what a run has spent."""

    def __init__(self, *, spent: Spent, **how: Any) -> None:
        super().__init__(**how)
        self._spent = spent

    def __enter__(self) -> "TimedProcess":
        began_at = perf_counter()
        super().__enter__()
        self._spent.start_s += perf_counter() - began_at
        self._spent.starts += 1
        return self

    def request(self, do: str, **fields: Any) -> dict[str, Any]:
        began_at = perf_counter()
        try:
            return super().request(do, **fields)
        finally:
            seconds = perf_counter() - began_at
            self._spent.load_s += seconds if do == "load" else 0.0
            self._spent.quality_s += seconds if do == "quality" else 0.0


@benchmark("cost")
def whole_runs() -> Iterator[Row]:
    spec = real_spec()
    began_at = perf_counter()
    record = inspect_model(spec, dtypes=("bfloat16",), strategies=[str(one) for one in (BASELINE, *STRATEGIES)])
    yield at_most("cost", "inspection, once a model", perf_counter() - began_at, "s", MOST_INSPECTION_S)
    for name, conditions in (("all fits", FITS), ("memory limits, 3 strategies", MEMORY_LIMITS)):
        spent = run(spec, record, conditions)
        yield from rows_of(name, spent)
        if conditions is FITS:
            prompts = [one.prompt for one in spent.measurements if one.repeats]
            yield at_most(
                "cost", f"plain sweep of its {len(prompts)} contexts, beside", sweep_s(spec, prompts), "s", spent.wall_s
            )


def rows_of(name: str, spent: Spent) -> Iterator[Row]:
    unavoidable_s = spent.start_s + spent.load_s + spent.generate_s
    told = f"{name}: {spent.wall_s:.1f} s of wall, {spent.generate_s:.1f} generating, {spent.starts} starts"
    yield at_most("cost", told, (spent.wall_s - spent.quality_s) / unavoidable_s, "x", MOST_TIMES)
    measured_s = spent.generate_s - spent.warm_s
    yield at_most("cost", f"{name}: warm-ups, of the measurements", spent.warm_s / measured_s, "x", 1.0)
    contexts = Counter((one.stage, one.strategy) for one in spent.measurements)
    for stage, most in MOST_CONTEXTS.items():
        found = max((count for (at, _), count in contexts.items() if at == stage), default=0)
        yield at_most("cost", f"{name}: contexts of a strategy in {stage}", found, "", most)


@benchmark("cost")
def tokens_per_s_beside_a_bare_generate() -> Iterator[Row]:
    """They take turns: the same call in the measuring process itself, and one as a user's own process has it.

    The allocator of a measuring process gives memory back at once, so that its peak can be read: that has a price.
    """
    spec = real_spec()
    ask = Ask(
        stage="baseline",
        strategy=BASELINE,
        prompt_tokens=PROMPT_TOKENS,
        answer_tokens=ANSWER_TOKENS,
        sequences=1,
        capacity_bytes=GIB,
    )
    ours: list[float] = []
    same_process: list[float] = []
    own_process: list[float] = []
    with MeasuringProcess(module="tests.bench.bare_measuring") as process, bare(spec) as users:

        def inside(prompt_tokens: int, answer_tokens: int) -> float:
            fields = ask.as_json() | {"prompt_tokens": prompt_tokens, "answer_tokens": answer_tokens}
            return float(process.request("bare", patience_s=PATIENCE_S, **fields)["seconds"])

        model = {"model": spec.as_json(), "dtype": "bfloat16", "device": "cpu", "attention": "sdpa"}
        process.request("load", patience_s=PATIENCE_S, **model)
        users(PROMPT_TOKENS, WARM_TOKENS)

        def measured() -> float:
            return float(process.request("measure", patience_s=PATIENCE_S, **ask.as_json())["decode_tokens_per_s"])

        turns = [(ours, measured), (same_process, lambda: _speed(inside)), (own_process, lambda: _speed(users))]
        orders = list(permutations(turns))  # whoever comes after the other process finds its weights in the caches
        for number in range(ROUNDS):
            for speeds, turn in orders[number % len(orders)]:
                speeds.append(turn())
    yield _part("decode beside a bare generate() there", ours, same_process, LEAST_PART_OF_SPEED)
    yield _part("decode beside a user's own process", ours, own_process, LEAST_PART_WITH_ALLOCATOR)


def _speed(call: Callable[[int, int], float]) -> float:
    """Tokens/s of a whole answer less its first token."""
    return (ANSWER_TOKENS - 1) / (call(PROMPT_TOKENS, ANSWER_TOKENS) - call(PROMPT_TOKENS, 1))


def _part(name: str, ours: list[float], theirs: list[float], least: float) -> Row:
    part = median(mine / other for mine, other in zip(ours, theirs, strict=True))  # of a round: the machine drifts
    told = f"{name}: {median(ours):.1f} and {median(theirs):.1f} tokens/s (medians of {ROUNDS}, in turns)"
    return Row(area="cost", name=told, value=part, unit="x", target=least, holds=part >= least)


def real_spec() -> ModelSpec:
    folder = real_model.make()
    return ModelSpec(kind=ModelKind.FOLDER, name=folder.name, path=str(folder))


def run(spec: ModelSpec, record: InspectionRecord, conditions: dict[str, Any]) -> Spent:
    """A quick run, its model already inspected."""
    spent = Spent()
    question = Question(model=spec.name, prompt_tokens=1024, typical_prompt_tokens=512, answer_tokens=32, **conditions)
    began_at = perf_counter()
    with ProcessBench(
        spec=spec,
        question=question,
        cancelled=lambda: False,
        tell=lambda message: None,
        start=partial(TimedProcess, spent=spent),
    ) as bench:
        for event in answer(question, record, bench):
            if event.kind is EventKind.MEASUREMENT:
                spent.measurements.append(Measurement.from_json(event.data))
    spent.wall_s = perf_counter() - began_at
    return spent


def sweep_s(spec: ModelSpec, prompts: list[int]) -> float:
    """Import, load and one warm call of each length before the one that counts, as a user's script has it."""
    began_at = perf_counter()
    with bare(spec) as call:
        for prompt_tokens in prompts:
            call(prompt_tokens, 2)
            call(prompt_tokens, 32)
    return perf_counter() - began_at


@contextmanager
def bare(spec: ModelSpec) -> Iterator[Callable[[int, int], float]]:
    """call(prompt_tokens, answer_tokens) -> seconds, in a process without any of the portal's settings."""
    command = [sys.executable, "-m", "tests.bench.bare_generate", cast("str", spec.path)]
    environment = {**os.environ, "HF_HUB_OFFLINE": "1"}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment, cwd=Path(ROOT)
    ) as process:
        lines, out = cast("IO[str]", process.stdin), cast("IO[str]", process.stdout)
        out.readline()

        def call(prompt_tokens: int, answer_tokens: int) -> float:
            lines.write(f"{prompt_tokens} {answer_tokens}\n")
            lines.flush()
            return float(out.readline())

        yield call
        lines.close()
