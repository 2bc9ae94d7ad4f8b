"""Measures what the procedure asks for, in a measuring process that is replaced as often as it must be."""

from collections.abc import Callable
from time import monotonic
from types import TracebackType
from typing import Any, cast

from jobs.procedure.measurement import Ask, Loaded, Measurement, skipped
from jobs.procedure.own_prompts import OwnPrompts
from jobs.procedure.question import Question
from jobs.running import deaths
from jobs.running.process import MeasuringProcess, OutOfTime, ProcessDied, ProcessHung
from jobs.sizing.model_spec import ModelKind, ModelSpec
from jobs.sizing.refusal import Refusal

LOAD_PATIENCE_S = 900.0
DOWNLOAD_PATIENCE_S = 4 * 3600.0
# The longest silence is a prompt's one pass: half an hour is a prompt that nobody would wait for.
MEASURE_PATIENCE_S = 1800.0


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
    ) -> None:
        self._spec = spec
        self._question = question
        self._prompts = prompts
        self._cancelled = cancelled
        self._tell = tell
        self._measuring_pid = measuring_pid
        self._start = start
        self._measure_patience_s = measure_patience_s
        self._process: MeasuringProcess | None = None
        self._deadline = None if question.time_cap_s is None else monotonic() + question.time_cap_s

    def __enter__(self) -> "ProcessBench":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def load(self) -> Loaded:
        """Start a process and load the model; raises Refusal or Cancelled."""
        self._end()
        try:
            process = self._start(cancelled=self._cancelled).__enter__()
            self._process = process
            self._measuring_pid(process.pid)
            return Loaded(**self._request_load(process))
        except ProcessDied as death:
            raise deaths.died_loading(self._spec.name, death) from death
        except ProcessHung as hang:
            raise Refusal("load_failed", str(hang), "Check the worker's disk and network.") from hang

    def measure(self, ask: Ask) -> Measurement:
        """Raises Cancelled, or a Refusal where the model cannot be loaded again."""
        if self._deadline is not None and monotonic() > self._deadline:
            return self._out_of_time(ask)
        try:
            return self._measure(ask, enforce=True)
        except OutOfTime:
            return self._out_of_time(ask)
        except ProcessHung as hang:
            return deaths.hung(ask, hang)
        except ProcessDied as death:
            return deaths.killed(ask, death) if deaths.was_killed(death) else self._after_crash(ask, death)

    def _after_crash(self, ask: Ask, death: ProcessDied) -> Measurement:
        """A crash under the limit may be a lack of memory: the peak without the limit decides."""
        self._tell(f"The measuring process crashed ({death.how}); measuring this point again without the limit.")
        try:
            unlimited = self._measure(ask, enforce=False)
        except OutOfTime:
            return self._out_of_time(ask)
        except ProcessHung as hang:
            return deaths.hung(ask, hang)
        except ProcessDied as second:
            return deaths.killed(ask, second) if deaths.was_killed(second) else deaths.crashed(ask, second)
        return deaths.decided_by_peak(ask, death, unlimited)

    def _measure(self, ask: Ask, *, enforce: bool) -> Measurement:
        try:
            data = self._loaded_process().request(
                "measure",
                patience_s=self._measure_patience_s,
                cancelled=self._cancelled,
                tell=self._tell,
                deadline=self._deadline,
                enforce=enforce,
                **ask.as_json(),
            )
        except Refusal as refusal:
            return deaths.refused(ask, refusal.as_json())
        return Measurement.from_json(data)

    def _loaded_process(self) -> MeasuringProcess:
        if self._process is not None and self._process.is_alive:
            return self._process
        self._tell("Starting a fresh measuring process.")
        self.load()
        return cast("MeasuringProcess", self._process)

    def _request_load(self, process: MeasuringProcess) -> dict[str, Any]:
        patience_s = DOWNLOAD_PATIENCE_S if self._spec.kind is ModelKind.HUB else LOAD_PATIENCE_S
        return process.request(
            "load",
            patience_s=patience_s,
            cancelled=self._cancelled,
            tell=self._tell,
            model=self._spec.as_json(),
            dtype=self._question.dtype,
            device=self._question.device,
            attention=self._question.attention,
            weights=self._question.weights,
            prompts=self._prompts and self._prompts.for_load(),
        )

    def _out_of_time(self, ask: Ask) -> Measurement:
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
