"""One point: is it applicable, does it fit, how long does it take; any failure is an outcome."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from transformers.cache_utils import Cache

from jobs.measuring.applicable import why_not
from jobs.measuring.attempts import attempt, look, one_pass, warm_up
from jobs.measuring.figures import measurement_of, without_figures
from jobs.measuring.held import Held, StillHeld
from jobs.measuring.loading import LoadedModel
from jobs.measuring.outcomes import Failure, fell_back, peak_above_capacity, weights_do_not_fit
from jobs.measuring.point import DeviceMemory, Point
from jobs.measuring.prompts import Prompts, RandomPrompts
from jobs.measuring.repeats import enough
from jobs.measuring.settings import generation_config
from jobs.procedure.measurement import Ask, Measurement, Outcome


@dataclass(frozen=True, kw_only=True)
class Measured:
    """A measurement, and whether the process must end after it."""

    measurement: Measurement
    restart: bool = False


class Measurer:
    """Measures points of one loaded model, one after another; remembers which shapes are warm."""

    def __init__(self, loaded: LoadedModel, memory: DeviceMemory, prompts: Prompts | None = None) -> None:
        self.loaded = loaded
        self.memory = memory
        self._prompts = prompts or RandomPrompts(loaded.model.config)
        self._warm: set[tuple[Any, ...]] = set()
        self.memory.settle()
        self._held = Held(resident=memory.kind == "cpu")
        self._points = 0

    def measure(self, ask: Ask, *, enforce: bool, tell: Callable[[str], None]) -> Measured:
        """Raises StillHeld where the points before left so much that this one is to be asked of a fresh process."""
        reason = why_not(ask.strategy, device=self.loaded.device)
        if reason:
            return Measured(measurement=without_figures(ask, Outcome.SKIPPED, "not_applicable", reason))
        if ask.capacity_bytes <= self.loaded.weights_bytes:
            too_heavy = weights_do_not_fit(weights_bytes=self.loaded.weights_bytes, capacity_bytes=ask.capacity_bytes)
            return Measured(measurement=without_figures(ask, too_heavy.outcome, too_heavy.code, too_heavy.message))
        self._refuse_leaks()
        point = self._point(ask, enforce=enforce, tell=tell)
        self.memory.begin()
        failure = self._again_if_tainted(point, self._run(point))
        return Measured(measurement=measurement_of(point, failure), restart=bool(failure and failure.restart))

    def first_use(self) -> AbstractContextManager[None]:
        """Around other work of the process: what it leaves resident for good is no point's leak."""
        return self._held.first_use()

    def _refuse_leaks(self) -> None:
        """Not before the first point: a process that has measured nothing is as fresh as any."""
        self.memory.settle()
        if self._points and not self._held.is_clean():
            raise StillHeld(self._held.leaked_bytes())
        self._points += 1

    def _point(self, ask: Ask, *, enforce: bool, tell: Callable[[str], None]) -> Point:
        leaked_bytes = self._held.leaked_bytes()
        ids = self._prompts.ids(sequences=ask.sequences, tokens=ask.prompt_tokens, seed=ask.seed)
        return Point(
            loaded=self.loaded,
            memory=self.memory,
            ask=ask,
            enforce=enforce,
            tell=tell,
            config=generation_config(ask.strategy, answer_tokens=ask.answer_tokens),
            prompts=self._prompts,
            prompt_ids=ids.to(self.loaded.device),
            leaked_bytes=leaked_bytes,
        )

    def _run(self, point: Point) -> Failure | None:
        """Warm the shape, then measure until the repeats agree; None where nothing was refused or failed."""
        failure = self._warm_up(point) or self._beyond(point)
        while not failure and not enough(point.passes, point.ask):
            point.tell(f"Measuring, pass {len(point.passes) + 1}.")
            failure = attempt(point, one_pass, limited=point.enforce)
            if not failure and not self.memory.is_sound():
                point.passes.clear()  # its speed is another kernel's
                failure = fell_back(capacity_bytes=point.ask.capacity_bytes)
            self._let_go(point)
        if failure:
            return failure
        return _above(point, max(one.peak_bytes for one in point.passes))

    def _warm_up(self, point: Point) -> Failure | None:
        if point.shape in self._warm:
            return None
        point.tell("Warming up.")
        with self._held.first_use():
            failure = attempt(point, warm_up, limited=False)
            self._let_go(point)
        if not failure:
            self._warm.add(point.shape)
        return failure

    def _beyond(self, point: Point) -> Failure | None:
        """Whether the prompt and one decode step alone need more than the capacity, as seen without its limit.

        Nothing has to be refused then: a refused kernel costs the process, and starting another costs seconds. The
        first reading alone decides nothing: weights that are mapped from their file become resident while it is made.
        """
        peak_bytes, capacity_bytes = point.short_peak_bytes, point.ask.capacity_bytes
        if not point.enforce or peak_bytes is None or peak_bytes <= capacity_bytes:
            return None
        point.tell("Reading the peak again, now that the shape is warm.")
        failure = attempt(point, look, limited=False)
        self._let_go(point)
        return failure or _above(point, point.short_peak_bytes or 0)

    def _again_if_tainted(self, point: Point, failure: Failure | None) -> Failure | None:
        """Once: what another process took of the device is not this model's. A second taint stays with the point."""
        taint = self.memory.tainted()
        if taint is None or (failure and failure.restart):
            return failure
        point.tell(f"{taint} Measuring it again.")
        point.passes.clear()
        self.memory.begin()
        return self._run(point)

    def _let_go(self, point: Point) -> None:
        """Drop what a call leaves: some models keep the last static cache on themselves."""
        model = self.loaded.model
        for name in [name for name, value in vars(model).items() if isinstance(value, Cache)]:
            delattr(model, name)
            point.tell(f"The model kept its cache after generate() (as {name}); it was dropped.")
        self.memory.settle()


def _above(point: Point, peak_bytes: int) -> Failure | None:
    capacity_bytes = point.ask.capacity_bytes
    if peak_bytes <= capacity_bytes:
        return None
    return peak_above_capacity(peak_bytes=peak_bytes, capacity_bytes=capacity_bytes)
