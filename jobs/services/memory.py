"""What a run's earlier attempt found and told: a run whose worker died goes on, it does not begin again."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from jobs.models import Run
from jobs.procedure.events import Event, EventKind
from jobs.procedure.measurement import Ask, Bench, Loaded, Measurement, Outcome
from jobs.procedure.quality import Quality, QualityAsk
from jobs.services.presentable import presentable


@dataclass(kw_only=True)
class Memory:
    """measurements: by strategy and context. environment: what they were made in, as Loaded tells it."""

    measurements: dict[tuple[str, int], Measurement]
    stages_begun: frozenset[str]
    stages: Mapping[str, Any]
    messages: frozenset[str]
    environment: Mapping[str, Any]

    @classmethod
    def of(cls, run: Run) -> "Memory":
        kept = [Measurement.from_json(row.data) for row in run.measurements.exclude(outcome=str(Outcome.SKIPPED))]
        told = list(run.events.filter(kind__in=[str(EventKind.LOG), str(EventKind.STAGE_STARTED)]))
        return cls(
            measurements={(row.strategy, row.context): row for row in kept},
            stages_begun=frozenset(event.data["stage"] for event in told if event.kind == EventKind.STAGE_STARTED),
            stages=run.stages,
            messages=frozenset(event.data["message"] for event in told if event.kind == EventKind.LOG),
            environment=run.environment,
        )

    def knows(self, event: Event) -> bool:
        """Whether the run has told this before."""
        data = event.data
        if event.kind in (EventKind.MEASURING, EventKind.MEASUREMENT):
            return (data["strategy"], data["context"]) in self.measurements
        if event.kind is EventKind.STAGE_STARTED:
            return data["stage"] in self.stages_begun
        if event.kind is EventKind.STAGE_FINISHED:
            return bool(self.stages.get(data["stage"]) == presentable(data["result"]))
        return event.kind is EventKind.LOG and data["message"] in self.messages


@dataclass(kw_only=True)
class RememberingBench:
    """Answers from memory where it can, else asks `bench`."""

    bench: Bench
    memory: Memory
    tell: Callable[[str], None]

    @property
    def downloads(self) -> bool:
        return self.bench.downloads

    def fetch(self) -> Mapping[str, Any]:
        return self.bench.fetch()

    def load(self) -> Loaded:
        loaded = self.bench.load()
        if self.memory.measurements and self.memory.environment != presentable(loaded.environment):
            self.memory.measurements.clear()
            self.tell("The environment has changed since the earlier attempt: everything is measured anew.")
        return loaded

    def measure(self, ask: Ask) -> Measurement:
        known = self.memory.measurements.get((str(ask.strategy), ask.context_tokens))
        return known if known is not None else self.bench.measure(ask)

    def quality(self, ask: QualityAsk) -> Quality:
        """Scored again: it takes seconds, and its result is told with the stage's, which an earlier attempt lacks."""
        return self.bench.quality(ask)
