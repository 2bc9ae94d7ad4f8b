"""What a run has seen so far, and the asking for more."""

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field, replace

from jobs.procedure.contexts import Grid
from jobs.procedure.curve import Correction, Curve
from jobs.procedure.estimate import Estimator, nearest_inspected
from jobs.procedure.events import Event, EventKind, Stage
from jobs.procedure.measurement import Ask, Bench, Loaded, Measurement, Outcome
from jobs.procedure.pace import Pace
from jobs.procedure.quality import Quality
from jobs.procedure.question import Depth, Question
from jobs.procedure.verdict import Bounds, Verdict, judge, told, was_killed, with_quality
from jobs.procedure.words import tokens_text, with_strategy
from jobs.sizing.record import InspectionRecord
from jobs.sizing.strategy import BASELINE, Strategy

EDGE_TRIES = 2
REPEATS: Mapping[Depth, tuple[int, int]] = {Depth.QUICK: (1, 2), Depth.FULL: (2, 4)}


@dataclass(kw_only=True)
class Evidence:
    """Every point is measured once a run, whichever stage asks first. `short` is the short context's prompt."""

    question: Question
    record: InspectionRecord
    bench: Bench
    loaded: Loaded
    bounds: Bounds
    grid: Grid
    short: int
    _seen: dict[tuple[str, int], Measurement] = field(default_factory=dict)
    _estimators: dict[str, Estimator] = field(default_factory=dict)
    _surprises: dict[str, int] = field(default_factory=dict)
    _qualities: dict[str, list[Quality]] = field(default_factory=dict)

    def measure(self, stage: Stage, strategy: Strategy, prompt: int) -> Generator[Event, None, Measurement]:
        """Tells before and after; what was measured before comes back without a word."""
        known = self.at(strategy, prompt)
        if known is not None:
            return known
        context = prompt + self.question.answer_tokens
        yield Event(kind=EventKind.MEASURING, data={"strategy": str(strategy), "context": context})
        measurement = replace(self.bench.measure(self._ask(stage, strategy, prompt)), stage=str(stage))
        self._seen[str(strategy), prompt] = measurement
        yield Event(kind=EventKind.MEASUREMENT, data=measurement.as_json())
        if measurement.outcome is not Outcome.OK:
            yield log(_not_ok(measurement, strategy))
        return measurement

    def at(self, strategy: Strategy, prompt: int) -> Measurement | None:
        return self._seen.get((str(strategy), prompt))

    def of(self, strategy: Strategy) -> list[Measurement]:
        """In rising order of context."""
        mine = [measurement for (name, _), measurement in self._seen.items() if name == str(strategy)]
        return sorted(mine, key=lambda measurement: measurement.prompt)

    def judged(self, strategy: Strategy) -> list[tuple[Measurement, Verdict]]:
        """What was really run, in rising order, with what it means for the question.

        A context that ran but lies between those whose quality is within the bound and above it is left out; so is one
        whose process was killed from outside, where a longer one ran.
        """
        mine = self.of(strategy)
        ran = max((measurement.prompt for measurement in mine if measurement.outcome is Outcome.OK), default=0)
        heard = [measurement for measurement in mine if measurement.prompt > ran or not was_killed(measurement)]
        pairs = [(measurement, self._judge(strategy, measurement)) for measurement in heard]
        return [(measurement, verdict) for measurement, verdict in pairs if verdict is not None]

    def _judge(self, strategy: Strategy, measurement: Measurement) -> Verdict | None:
        verdict = judge(measurement, self.bounds)
        if verdict is None or not verdict.acceptable:
            return verdict
        return with_quality(measurement.context, self.qualities(strategy), self.bounds.max_kl)

    def fits(self, strategy: Strategy) -> bool:
        """Whether the workload's longest context was run, and is acceptable."""
        longest = self.at(strategy, self.grid.longest)
        verdict = None if longest is None else self._judge(strategy, longest)
        return verdict is not None and verdict.acceptable

    def qualities(self, strategy: Strategy) -> tuple[Quality, ...]:
        """In the order in which they were asked for: the longest context first."""
        return tuple(self._qualities.get(str(strategy), ()))

    def add_quality(self, strategy: Strategy, quality: Quality) -> None:
        self._qualities.setdefault(str(strategy), []).append(quality)

    def is_limited_by_quality(self, strategy: Strategy) -> bool:
        return any(quality.is_above(self.bounds.max_kl) for quality in self.qualities(strategy))

    def estimator(self, strategy: Strategy) -> Estimator:
        """Of the nearest strategy that the model was inspected with: only where to measure depends on it."""
        name = str(strategy)
        if name not in self._estimators:
            nearest = nearest_inspected(self.question, self.record, strategy)
            self._estimators[name] = Estimator.of(self.question, self.record, nearest)
        return self._estimators[name]

    def curve(self, strategy: Strategy) -> Curve:
        """Corrected by the strategy's own points, at first by the baseline's."""
        return Curve.learned(
            self.of(strategy),
            estimate=self.estimator(strategy).peak_and_weights,
            weights_bytes=self.loaded.weights_bytes,
            capacity_bytes=self.bounds.capacity_bytes,
            borrowed=Correction() if strategy == BASELINE else self.curve(BASELINE).correction,
        )

    def edge(self, strategy: Strategy, low: int | None, high: int | None) -> int | None:
        """The last prompt strictly between the bounds up to which all are expected to be acceptable."""
        curve, pace = self.curve(strategy), Pace.of(self.of(strategy))
        last = None
        for prompt in self.grid.between(low, high):
            if curve.peak_bytes(prompt) > self.bounds.budget_bytes or not pace.allows(prompt, self.bounds):
                break
            last = prompt
        return last

    def probe(self, stage: Stage, strategy: Strategy, prompt: int) -> Generator[Event, None, bool | None]:
        """Measure where an acceptable point is expected; whether it was one (None: never run)."""
        verdict = judge((yield from self.measure(stage, strategy, prompt)), self.bounds)
        if verdict is None:
            return None
        self._surprises[str(strategy)] = 0 if verdict.acceptable else self.surprises(strategy) + 1
        return verdict.acceptable

    def surprises(self, strategy: Strategy) -> int:
        """How often in a row a point was not acceptable where it was expected to be."""
        return self._surprises.get(str(strategy), 0)

    def measure_edge(self, stage: Stage, strategy: Strategy, *, below: int | None) -> Generator[Event, None, None]:
        """The edge as expected, and once more where that was not acceptable and taught something."""
        for _ in range(EDGE_TRIES):
            edge = self.edge(strategy, None, below)
            if edge is None or self.at(strategy, edge) is not None:
                return
            if (yield from self.probe(stage, strategy, edge)) is not False:
                return

    def _ask(self, stage: Stage, strategy: Strategy, prompt: int) -> Ask:
        least, most = REPEATS[self.question.depth]
        return Ask(
            stage=str(stage),
            strategy=strategy,
            prompt_tokens=prompt,
            answer_tokens=self.question.answer_tokens,
            sequences=self.question.sequences,
            capacity_bytes=self.bounds.capacity_bytes,
            least_repeats=least,
            most_repeats=most,
            budget_bytes=self.bounds.budget_bytes,
            min_decode_tokens_per_s=self.bounds.min_decode_tokens_per_s,
            max_ttft_s=self.bounds.max_ttft_s,
        )


def log(message: str) -> Event:
    return Event(kind=EventKind.LOG, data={"message": message})


def _not_ok(measurement: Measurement, strategy: Strategy) -> str:
    where = f"at {tokens_text(measurement.context)} {with_strategy(strategy)}"
    if measurement.outcome is Outcome.OUT_OF_MEMORY:
        return f"Out of memory {where}, as a measurement: {told(measurement)}"
    if measurement.outcome is Outcome.FAILED:
        return f"The measurement {where} failed: {told(measurement)}"
    return f"Not measured {where}: {told(measurement)}"
