"""A record of a small Llama and benches whose memory follows a truth that the procedure cannot see."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from jobs.procedure.events import Event, EventKind
from jobs.procedure.measurement import Ask, Loaded, Measurement, Outcome
from jobs.procedure.quality import Quality, QualityAsk, QualityOutcome
from jobs.procedure.question import Question
from jobs.procedure.run import answer
from jobs.procedure.snippet import generate_settings
from jobs.sizing.budgets import RunPeak, run_peak
from jobs.sizing.record import InspectionRecord, LayerGroup, LayerKind, PeakRung, Phase
from jobs.sizing.strategy import Strategy
from jobs.sizing.units import GIB, MIB

WEIGHTS_BYTES = 256 * MIB
STRATEGIES = ("default", "static", "quantized:hqq:8", "quantized:hqq:4", "quantized:quanto:4", "quantized:fp8")
CHUNKED = ("chunked:512", "quantized:hqq:4+chunked:512")
PREFILL_BYTES_A_TOKEN = 11_520  # 2 bytes × (2 × 576 + 3 × 1,536)
CHUNKED_BYTES_A_TOKEN = 1_000


def record(**changes: Any) -> InspectionRecord:
    """SmolLM2-135M's shape: 23,040 bytes of KV cache a token in bfloat16."""
    layers = (LayerGroup(kind=LayerKind.GROWING, count=30, heads=3, key_width=64, value_width=64),)
    made = InspectionRecord(
        model="SmolLM2-135M",
        model_type="llama",
        architecture="LlamaForCausalLM",
        config_hash="0" * 64,
        versions={"transformers": "5.24.0"},
        parameters=134_515_008,
        weights_bytes={"bfloat16": WEIGHTS_BYTES, "float32": 2 * WEIGHTS_BYTES},
        native_context=None,
        vocabulary=49_152,
        layers=layers,
        rungs=tuple(_rungs()),
        refusals={},
    )
    return replace(made, **changes)


def question(**changes: Any) -> Question:
    asked = Question(
        model="SmolLM2-135M",
        prompt_tokens=1024,
        typical_prompt_tokens=512,
        answer_tokens=32,
        capacity_bytes=280 * MIB,
        headroom_percent=0,
    )
    return replace(asked, **changes)


def strategies(*names: str) -> tuple[Strategy, ...]:
    return tuple(Strategy.parse(name) for name in names)


def estimate(record: InspectionRecord, asked: Question, strategy: Strategy, prompt: int) -> RunPeak:
    return run_peak(
        record,
        prompt_tokens=prompt,
        answer_tokens=asked.answer_tokens,
        sequences=asked.sequences,
        dtype=asked.dtype,
        strategy=strategy,
    )


Truth = Callable[[Strategy, int, RunPeak], int]
Pace = Callable[[Strategy, int], tuple[float, float]]


def as_estimated(strategy: Strategy, prompt: int, estimated: RunPeak) -> int:
    return estimated.peak_bytes


KlAt = Callable[[Strategy, int], float]
HALF_INTERVAL = 0.01


def faithful(strategy: Strategy, context: int) -> float:
    """Mean KL by bits: as fine as the facts of a small model."""
    return {8: 0.0004, 4: 0.06, 2: 2.5}.get(strategy.bits or 0, 0.02)


def brisk(strategy: Strategy, prompt: int) -> tuple[float, float]:
    """(time to first token in s, tokens/s): quantized caches answer more slowly."""
    slower = 1.6 if strategy.is_quantized else 1.0
    return 0.001 * prompt, 1 / (slower * (0.03 + 3e-5 * prompt))


@dataclass(kw_only=True)
class World:
    """A bench. truth gives the peak, fails where a strategy fails, and of what; fails_with: by which code."""

    asked: Question
    record: InspectionRecord
    truth: Truth = as_estimated
    pace: Pace = brisk
    kl: KlAt = faithful
    unscored: Callable[[QualityAsk], Quality | None] = lambda ask: None
    device_kind: str = "cpu"
    device_bytes: int = 24 * GIB
    random_weights: bool = True
    fails: Callable[[Strategy, int], str | None] = lambda strategy, prompt: None
    fails_with: str = "strategy_failed"
    settings: Callable[[Strategy, int], Mapping[str, Any]] | None = None
    skip_after: int | None = None
    asks: list[Ask] = field(default_factory=list)
    scored: list[QualityAsk] = field(default_factory=list)

    downloads: bool = False

    def fetch(self) -> Mapping[str, Any]:
        return {"bytes": 2 * GIB, "fetched_bytes": 2 * GIB, "seconds": 30.0, "revision": "5" * 40}

    def load(self) -> Loaded:
        return Loaded(
            weights_bytes=self.record.weights_bytes[self.asked.dtype],
            parameters=self.record.parameters,
            load_s=0.5,
            random_weights=self.random_weights,
            device={
                "name": "a CPU",
                "kind": self.device_kind,
                "capacity_bytes": self.device_bytes,
                "enforced": True,
            },
            environment={"transformers": "5.24.0"},
        )

    def peak(self, strategy: Strategy, prompt: int) -> int:
        estimated = estimate(self.record, self.asked, strategy, prompt)
        return self.truth(strategy, prompt, estimated)

    def measure(self, ask: Ask) -> Measurement:
        self.asks.append(ask)
        blank = Measurement(
            strategy=str(ask.strategy),
            context=ask.context_tokens,
            prompt=ask.prompt_tokens,
            answer=ask.answer_tokens,
            sequences=ask.sequences,
            outcome=Outcome.SKIPPED,
            settings=(self.settings or self.recorded)(ask.strategy, ask.answer_tokens),
        )
        if self.skip_after is not None and len(self.asks) > self.skip_after:
            return replace(blank, error={"code": "time_cap", "message": "the time cap was reached"})
        reason = self.fails(ask.strategy, ask.prompt_tokens)
        if reason is not None:
            return replace(blank, outcome=Outcome.FAILED, error={"code": self.fails_with, "message": reason})
        return self._run(blank, ask)

    def quality(self, ask: QualityAsk) -> Quality:
        """unscored: what is answered in place of figures."""
        self.scored.append(ask)
        refused = self.unscored(ask)
        if refused is not None:
            return refused
        kl = self.kl(ask.strategy, ask.context_tokens)
        return Quality(
            strategy=str(ask.strategy),
            context=ask.context_tokens,
            outcome=QualityOutcome.OK,
            scored_tokens=ask.scored_tokens,
            mean_kl=kl,
            kl_low=max(0.0, kl - HALF_INTERVAL),
            kl_high=kl + HALF_INTERVAL,
            same_top=0.9,
            loss_difference=kl / 2,
        )

    def _run(self, blank: Measurement, ask: Ask) -> Measurement:
        peak = self.peak(ask.strategy, ask.prompt_tokens)
        if peak > ask.capacity_bytes:
            error = {"code": "out_of_memory", "message": "the allocator refused"}
            return replace(blank, outcome=Outcome.OUT_OF_MEMORY, error=error)
        sized = estimate(self.record, self.asked, ask.strategy, ask.prompt_tokens)
        kv = sized.kv_prefill_bytes if sized.phase is Phase.PREFILL else sized.kv_bytes
        ttft_s, speed = self.pace(ask.strategy, ask.prompt_tokens)
        return replace(
            blank,
            outcome=Outcome.OK,
            peak_bytes=peak,
            kv_bytes=sized.kv_bytes,
            kv_prefill_bytes=sized.kv_prefill_bytes,
            working_bytes=peak - sized.weights_bytes - kv,
            host_bytes=sized.host_bytes,
            ttft_s=ttft_s,
            decode_tokens_per_s=speed,
            total_s=ttft_s + ask.answer_tokens / speed,
            repeats=ask.least_repeats,
        )

    @staticmethod
    def recorded(strategy: Strategy, answer_tokens: int) -> dict[str, Any]:
        changed = generate_settings(strategy, answer_tokens)
        return (
            {"cache_config": None, "prefill_chunk_size": None, "do_sample": False} | changed | {"disable_compile": True}
        )


@dataclass(frozen=True)
class Answered:
    events: list[Event]
    stages: dict[str, Any]

    @property
    def limit(self) -> dict[str, Any]:
        return self.stages["limit"]

    @property
    def logs(self) -> str:
        return "\n".join(event.data["message"] for event in self.events if event.kind is EventKind.LOG)

    def measured(self, strategy: str) -> list[dict[str, Any]]:
        rows = [dict(event.data) for event in self.events if event.kind is EventKind.MEASUREMENT]
        return sorted((row for row in rows if row["strategy"] == strategy), key=lambda row: row["context"])

    def change(self, strategy: str) -> dict[str, Any]:
        return next(change for change in self.stages["changes"] if change["strategy"] == strategy)


def answered(world: World) -> Answered:
    events = list(answer(world.asked, world.record, world))
    finished = [event.data for event in events if event.kind is EventKind.STAGE_FINISHED]
    return Answered(events, {data["stage"]: data["result"] for data in finished})


def _rungs() -> list[PeakRung]:
    """Straight lines: so much a token in the prefill, a constant while answering."""
    rungs = []
    for tokens in (256, 512, 1024, 2048, 4096):
        for name in (*STRATEGIES, *CHUNKED):
            each = CHUNKED_BYTES_A_TOKEN if "chunked" in name else PREFILL_BYTES_A_TOKEN
            for phase, working in ((Phase.PREFILL, each * tokens), (Phase.DECODE, MIB)):
                rungs.append(
                    PeakRung(
                        phase=phase,
                        strategy=name,
                        dtype="bfloat16",
                        attention="sdpa",
                        sequences=1,
                        tokens=tokens,
                        working_bytes=working,
                    )
                )
    return rungs
