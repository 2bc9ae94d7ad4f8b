"""Measures what the procedure asks for, in a measuring process that is replaced as often as it must be."""

from collections.abc import Callable
from dataclasses import replace
from time import monotonic
from types import TracebackType
from typing import Any, cast

from jobs.procedure.measurement import Ask, Loaded, Measurement, skipped
from jobs.procedure.own_prompts import OwnPrompts
from jobs.procedure.quality import Quality, QualityAsk, QualityOutcome
from jobs.procedure.question import Question
from jobs.running import deaths
from jobs.running.fresh import FreshProcess
from jobs.running.process import MeasuringProcess, OutOfTime, ProcessDied, ProcessHung
from jobs.sizing.model_spec import ModelKind, ModelSpec
from jobs.sizing.refusal import Refusal

LOAD_PATIENCE_S = 900.0
FETCH_PATIENCE_S = 300.0  # a download says once a minute how far it is
# The longest silence is a prompt's one pass: half an hour is a prompt that nobody would wait for.
MEASURE_PATIENCE_S = 1800.0
# One point with all its passes: a context that takes longer is of no use to anybody, and others wait.
POINT_MOST_S = 3600.0


class ProcessBench:
    """The procedure's Bench over one model and question; a context manager that leaves no process behind.

    measuring_pid is told each new process's id. A failure of any kind is a measurement; the run goes on after it.
    """

    def __init__(
        self,
        *,
        spec: ModelSpec,
        question: Question,
        prompts: OwnPrompts | None = None,
        cancelled: Callable[[], bool],
        tell: Callable[[str], None],
        measuring_pid: Callable[[int], None] = lambda pid: None,
        start: Callable[..., MeasuringProcess] = MeasuringProcess,
        measure_patience_s: float = MEASURE_PATIENCE_S,
        point_most_s: float = POINT_MOST_S,
    ) -> None:
        self._spec = spec
        self._question = question
        self._prompts = prompts
        self._cancelled = cancelled
        self._tell = tell
        self._measuring_pid = measuring_pid
        self._start = start
        self._measure_patience_s = measure_patience_s
        self._point_most_s = point_most_s
        self._fresh = FreshProcess()
        self._process: MeasuringProcess | None = None
        self._deadline = None if question.time_cap_s is None else monotonic() + question.time_cap_s

    def __enter__(self) -> "ProcessBench":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    @property
    def downloads(self) -> bool:
        return self._spec.kind is ModelKind.HUB

    def fetch(self) -> dict[str, Any]:
        """Bring the model's files here; what it takes is not counted against the run's time cap.

        What is loaded afterwards is the commit that was fetched. Raises Refusal or Cancelled.
        """
        began_s = monotonic()
        try:
            fetched = self._request_fetch(self._begin())
        except (ProcessDied, ProcessHung) as end:
            raise Refusal("hub_failed", f"The download ended: {end}", "Run it again: it goes on where it was.") from end
        self._spec = replace(self._spec, revision=fetched["revision"])
        if self._deadline is not None:
            self._deadline += monotonic() - began_s
        return fetched

    def load(self) -> Loaded:
        """Start a process and load the model; raises Refusal or Cancelled."""
        return self._load(deadline=None)

    def _begin(self) -> MeasuringProcess:
        """A process in place of the one before."""
        self._end()
        self._process = self._start(cancelled=self._cancelled).__enter__()
        self._measuring_pid(self._process.pid)
        return self._process

    def _load(self, *, deadline: float | None) -> Loaded:
        try:
            loaded = Loaded(**self._request_load(self._begin(), deadline))
        except ProcessDied as death:
            raise deaths.died_loading(self._spec.name, death) from death
        except ProcessHung as hang:
            raise Refusal("load_failed", str(hang), "Check the worker's disk and network.") from hang
        self._fresh.loaded(loaded.environment)
        return loaded

    def measure(self, ask: Ask) -> Measurement:
        """Raises Cancelled, or a Refusal where the model cannot be loaded again."""
        if self._deadline is not None and monotonic() > self._deadline:
            return self._out_of_time(ask)
        found = self._measured_or_crashed(ask, enforce=True)
        if isinstance(found, ProcessDied):
            found = self._after_crash(ask, found)
        return self._fresh.noted_on(found)

    def _measured_or_crashed(self, ask: Ask, *, enforce: bool) -> Measurement | ProcessDied:
        """The measurement, also of a process that was lost over it; a crash, which may mean more than one thing."""
        try:
            return self._measure(ask, enforce=enforce)
        except OutOfTime:
            self._fresh.because("the point before it was ended for want of time")
            return self._out_of_time(ask)
        except ProcessHung as hang:
            self._fresh.because("the process before it hung")
            return deaths.hung(ask, hang)
        except ProcessDied as death:
            if deaths.was_killed(death):
                self._fresh.because(f"the process before it was killed from outside ({death.how})")
                return deaths.killed(ask, death)
            self._fresh.because(f"the process before it crashed ({death.how})")
            return death

    def quality(self, ask: QualityAsk) -> Quality:
        """Raises Cancelled alone: a run goes on without a quality, and says why."""
        if self._deadline is not None and monotonic() > self._deadline:
            return ask.without_figures(QualityOutcome.NOT_MEASURED, "the run's time cap came first")
        try:
            data = self._loaded_process().request(
                "quality",
                patience_s=self._measure_patience_s,
                cancelled=self._cancelled,
                tell=self._tell,
                deadline=self._deadline,
                **ask.as_json(),
            )
        except OutOfTime:
            return ask.without_figures(QualityOutcome.NOT_MEASURED, "the run's time cap came first")
        except (ProcessDied, ProcessHung) as end:
            how = f" ({end.how})" if isinstance(end, ProcessDied) else ", for it said nothing"
            self._fresh.because(f"the process before it ended while a quality was scored{how}")
            return ask.without_figures(QualityOutcome.FAILED, str(end))
        except Refusal as refusal:
            return ask.without_figures(QualityOutcome.FAILED, refusal.message)
        if self._process is not None and not self._process.is_alive:
            self._fresh.because("scoring a quality had left the process before it unusable")
        return Quality.from_json(data)

    def _after_crash(self, ask: Ask, death: ProcessDied) -> Measurement:
        """A crash under the limit may be a lack of memory: the peak without the limit decides."""
        self._tell(f"The measuring process crashed ({death.how}); measuring this point again without the limit.")
        unlimited = self._measured_or_crashed(ask, enforce=False)
        if isinstance(unlimited, ProcessDied):
            return deaths.crashed(ask, unlimited)
        return deaths.decided_by_peak(ask, death, unlimited)

    def _measure(self, ask: Ask, *, enforce: bool) -> Measurement:
        process = self._loaded_process()
        try:
            data = self._request_measure(process, ask, enforce=enforce)
            if "outcome" not in data:
                self._fresh.leaked(data["leaked_bytes"])
                process = self._loaded_process()
                data = self._request_measure(process, ask, enforce=enforce)
        except Refusal as refusal:
            return deaths.refused(ask, refusal.as_json())
        measurement = Measurement.from_json(data)
        if not process.is_alive:
            self._fresh.because_of(measurement)
        return measurement

    def _request_measure(self, process: MeasuringProcess, ask: Ask, *, enforce: bool) -> dict[str, Any]:
        point_deadline = monotonic() + self._point_most_s
        return process.request(
            "measure",
            patience_s=self._measure_patience_s,
            cancelled=self._cancelled,
            tell=self._tell,
            deadline=point_deadline if self._deadline is None else min(self._deadline, point_deadline),
            enforce=enforce,
            **ask.as_json(),
        )

    def _loaded_process(self) -> MeasuringProcess:
        if self._process is not None and self._process.is_alive:
            return self._process
        self._tell("Starting a fresh measuring process.")
        self._load(deadline=self._deadline)
        return cast("MeasuringProcess", self._process)

    def _request_fetch(self, process: MeasuringProcess) -> dict[str, Any]:
        return process.request(
            "fetch",
            patience_s=FETCH_PATIENCE_S,
            cancelled=self._cancelled,
            tell=self._tell,
            model=self._spec.as_json(),
            device=self._question.device,
            weights=self._question.weights,
        )

    def _request_load(self, process: MeasuringProcess, deadline: float | None) -> dict[str, Any]:
        return process.request(
            "load",
            patience_s=LOAD_PATIENCE_S,
            cancelled=self._cancelled,
            tell=self._tell,
            deadline=deadline,
            model=self._spec.as_json(),
            dtype=self._question.dtype,
            device=self._question.device,
            attention=self._question.attention,
            weights=self._question.weights,
            prompts=self._prompts and self._prompts.for_load(),
        )

    def _out_of_time(self, ask: Ask) -> Measurement:
        if self._deadline is None or monotonic() < self._deadline:
            return deaths.took_too_long(ask, self._point_most_s)
        return skipped(
            self._question,
            ask.strategy,
            ask.prompt_tokens,
            stage=ask.stage,
            code="time_cap",
            message="The run's time cap came first.",
        )

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process = None
