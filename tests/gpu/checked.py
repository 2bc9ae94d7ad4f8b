"""One subject on one device: predicted, loaded, measured point by point, each thing that must hold in a row."""

import gc
from collections.abc import Callable
from time import monotonic
from typing import Any

import torch

from jobs.measuring.cpu_memory import CpuMemory
from jobs.measuring.cuda_cards import CudaCards
from jobs.measuring.cuda_memory import CudaMemory
from jobs.measuring.inspect import inspect_model_spec
from jobs.measuring.loading import load_model
from jobs.measuring.measure import Measurer
from jobs.measuring.outcomes import failure_of
from jobs.procedure.measurement import Ask, Measurement, Outcome
from jobs.sizing.budgets import run_peak
from jobs.sizing.refusal import Refusal
from jobs.sizing.strategy import BASELINE, Strategy
from jobs.sizing.units import MIB
from tests.gpu.subjects import Subject

DTYPE = "bfloat16"
# A prediction of the whole peak further off than this says that sizing's rules for the CPU's kernels fail there.
PEAK_ERROR_PERCENT = 5.0
SMALL_BUFFERS_BYTES = MIB
ALLOWED_BYTES, ASKED_BYTES = 64 * MIB, 128 * MIB
FASTEST_OF_BUS = 1.1


class Checked:
    """rows: {"subject", "name", "holds", "measured"}. bus_bytes_per_s: from CPU RAM to the card."""

    def __init__(
        self,
        subject: Subject,
        *,
        device: dict[str, Any],
        cards: CudaCards,
        capacity_bytes: int,
        bus_bytes_per_s: float,
        ends_at: float,
        say: Callable[[str], None],
    ) -> None:
        self.subject, self.device, self.capacity_bytes = subject, device, capacity_bytes
        self._bus_bytes_per_s, self._ends_at, self._say = bus_bytes_per_s, ends_at, say
        self.rows: list[dict[str, Any]] = []
        self._record = inspect_model_spec(
            subject.spec,
            dtypes=(DTYPE,),
            sequences=(1,),
            tokens=subject.inspected_tokens,
            strategies=subject.strategies,
        )
        on_cpu = device["kind"] == "cpu"
        name = "cpu" if on_cpu else cards.open(device, dtype=DTYPE, tell=say)
        self.loaded = load_model(subject.spec, dtype=DTYPE, device=name, attention="sdpa", tell=say)
        self.memory: CpuMemory | CudaMemory = (
            CpuMemory(weights_bytes=self.loaded.weights_bytes) if on_cpu else cards.memory(self.loaded.model)
        )
        self._measurer = Measurer(self.loaded, self.memory)

    def run(self) -> None:
        self._weights()
        for strategy, prompt_tokens in self.subject.points:
            self._point(strategy, prompt_tokens)
        if self.subject.too_long:
            self._out_of_memory(self.subject.too_long)
            self._refused()

    def _weights(self) -> None:
        predicted, measured = self._record.weights_bytes[DTYPE], self.loaded.weights_bytes
        figures = {"predicted_bytes": predicted, "measured_bytes": measured, "load_s": self.loaded.load_s}
        self._row("weights as predicted", abs(predicted - measured) <= SMALL_BUFFERS_BYTES, figures)

    def assert_on_the_device(self) -> None:
        """Last: it leaves the process's CUDA context unusable."""
        ids = torch.full((1, 8), 10**6, device=self.loaded.device)
        try:
            self.loaded.model(ids)
            torch.cuda.synchronize()
        except RuntimeError as error:
            found = failure_of(error, strategy=BASELINE, capacity_bytes=1, limited=True, device="cuda")
            self._row("an assert on the device is no lack of memory", found.code == "device_assert", found.error)
        else:
            self._row("an assert on the device is no lack of memory", False, None)
        self.memory.settle()  # what a point does after it: this must not raise

    def let_go(self) -> None:
        """Before the next subject is loaded."""
        del self._measurer, self.loaded
        gc.unfreeze()
        self.memory.settle()

    def measure(self, strategy: str, prompt_tokens: int, capacity_bytes: int | None = None) -> Measurement | None:
        """None once the time is up."""
        if monotonic() > self._ends_at:
            return None
        ask = Ask(
            stage="check",
            strategy=Strategy.parse(strategy),
            prompt_tokens=prompt_tokens,
            answer_tokens=self.subject.answer_tokens,
            sequences=1,
            capacity_bytes=capacity_bytes or self.capacity_bytes,
        )
        return self._measurer.measure(ask, enforce=True, tell=self._say).measurement

    def _point(self, strategy: str, prompt_tokens: int) -> None:
        """Any outcome is recorded; where it ran, the peak is beside its prediction, and an offloading cache's speed
        beside the bus's."""
        found = self.measure(strategy, prompt_tokens)
        name = f"{strategy} at {prompt_tokens + self.subject.answer_tokens:,}"
        if found is None:
            return
        if found.outcome is not Outcome.OK:
            self._row(name, found.outcome is not Outcome.OUT_OF_MEMORY, found.as_json() | {"settings": None})
            return
        predicted = self._beside(found, self._predicted(strategy, prompt_tokens))
        # What a tiny model takes in the rehearsal is nothing beside the heap's own noise.
        holds = self.memory.kind == "cpu" or abs(predicted.get("error_percent", 0.0)) <= PEAK_ERROR_PERCENT
        if strategy == "default" and "sliding_window" not in self.subject.config:
            holds = holds and found.kv_bytes == (found.context - 1) * self.subject.token_bytes
        measured = found.as_json() | {"settings": None}
        self._row(name, holds, measured | predicted)
        if Strategy.parse(strategy).is_offloaded:
            self._offloading(name, found)

    def _predicted(self, strategy: str, prompt_tokens: int) -> dict[str, Any]:
        try:
            peak = run_peak(
                self._record,
                prompt_tokens=prompt_tokens,
                answer_tokens=self.subject.answer_tokens,
                sequences=1,
                dtype=DTYPE,
                strategy=Strategy.parse(strategy),
            )
        except Refusal as refusal:
            return {"not_predicted": refusal.message}
        return {"predicted_peak_bytes": peak.peak_bytes, "predicted_host_bytes": peak.host_bytes}

    def _beside(self, found: Measurement, predicted: dict[str, Any]) -> dict[str, Any]:
        """The context is no part of a prediction, so it is taken from what was measured."""
        context_bytes = self.memory.context_bytes if isinstance(self.memory, CudaMemory) else 0
        if "predicted_peak_bytes" not in predicted or found.peak_bytes is None:
            return predicted
        without = found.peak_bytes - context_bytes
        error = 100 * (predicted["predicted_peak_bytes"] - without) / without
        return predicted | {"peak_without_context_bytes": without, "error_percent": round(error, 2)}

    def _offloading(self, name: str, found: Measurement) -> None:
        """Every token brings the whole cache over the bus: no token can come sooner than that takes."""
        cache_bytes = (found.context - 1) * self.subject.token_bytes
        least_s = cache_bytes / self._bus_bytes_per_s
        step_s = 1 / found.decode_tokens_per_s if found.decode_tokens_per_s else 0.0
        self._row(
            f"{name}: not faster than the bus",
            step_s * FASTEST_OF_BUS >= least_s,
            {
                "cache_bytes": cache_bytes,
                "host_bytes": found.host_bytes,
                "bus_bytes_per_s": self._bus_bytes_per_s,
                "least_s_per_token": least_s,
                "measured_s_per_token": step_s,
            },
        )

    def _out_of_memory(self, prompt_tokens: int) -> None:
        """Half of the cache beside the weights is all that is allowed: refused for real, and the process goes on."""
        room_bytes = prompt_tokens * self.subject.token_bytes // 2
        capacity_bytes = min(self.capacity_bytes, self.loaded.weights_bytes + self._context_bytes() + room_bytes)
        found = self.measure("default", prompt_tokens, capacity_bytes)
        if found is not None:
            refused = found.outcome is Outcome.OUT_OF_MEMORY
            self._row("a capacity that is too small", refused, {"error": found.error, "bytes": capacity_bytes})
        again = self.measure("default", self.subject.points[0][1])
        if again is not None:
            self._row("usable after running out of memory", again.outcome is Outcome.OK, again.error)

    def _refused(self) -> None:
        """The capacity bounds the allocator itself, and no longer than it should."""
        if self.memory.kind == "cpu":
            return
        self.memory.settle()
        error = "nothing was refused"
        with self.memory.limited_to(self.loaded.weights_bytes + self._context_bytes() + ALLOWED_BYTES):
            try:
                torch.empty(ASKED_BYTES, dtype=torch.uint8, device=self.loaded.device)
            except torch.OutOfMemoryError as refused:
                error = str(refused).splitlines()[0]
        self._row("the allocator refuses beyond the capacity", "out of memory" in error, error)
        torch.empty(ASKED_BYTES, dtype=torch.uint8, device=self.loaded.device)

    def _context_bytes(self) -> int:
        return self.memory.context_bytes if isinstance(self.memory, CudaMemory) else 0

    def _row(self, name: str, holds: bool, measured: Any) -> None:
        self.rows.append({"subject": self.subject.name, "name": name, "holds": holds, "measured": measured})
        self._say(f"{'holds' if holds else 'FAILS'}: {self.subject.name}, {name}")
