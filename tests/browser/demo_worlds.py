"""Benches of the demo: a CPU, a GPU whose model has real weights, and two cards that share a model."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from jobs.procedure.measurement import Loaded, Measurement, Outcome
from jobs.procedure.quality import Quality, QualityAsk, QualityOutcome
from jobs.sizing.budgets import weights_bytes
from jobs.sizing.record import ON_THE_FLY_SOURCE, InspectionRecord, StoredWeights
from jobs.sizing.strategy import Strategy
from jobs.sizing.units import GIB, MIB
from tests.procedure.worlds import World, record

VERSIONS = {"torch": "2.13.0", "transformers": "5.24.0", "hqq": "0.2.8.post1", "optimum-quanto": "0.2.7"}
ENVIRONMENT = {
    "versions": VERSIONS,
    "cpu": "AMD EPYC 9454P",
    "threads": 8,
    "attention": "sdpa",
    "config_hash": "5f3c0e5a" * 8,
}
DEVICE = {"name": "AMD EPYC 9454P", "kind": "cpu", "capacity_bytes": 64 * GIB}
L4_BYTES = 23_034 * MIB
L4 = {"name": "NVIDIA L4", "kind": "cuda", "capacity_bytes": L4_BYTES}
TWO_L4 = {"name": "2 × NVIDIA L4", "kind": "cuda", "capacity_bytes": 2 * L4_BYTES}
CONTEXT_BYTES = 214 * MIB
SHARES = {"cuda:0": 0.5, "cuda:1": 0.5}
DISTURBED = "During this measurement python (process 4711) took 1.20 GiB of cuda:0."
REFUSED_THERE = "memory was refused at the point before, which left that process unusable"
TOO_SLOW = "no time was left for it"


@dataclass(kw_only=True)
class DemoWorld(World):
    """Peaks a little above the estimate, speeds with a little noise."""

    def load(self) -> Loaded:
        return replace(super().load(), device=DEVICE, environment=ENVIRONMENT, load_s=2.84)

    def _run(self, blank: Measurement, ask: Any) -> Measurement:
        made = super()._run(blank, ask)
        if made.decode_tokens_per_s is None:
            return made
        noise = 1 + ((made.context * 7919) % 13 - 6) / 300
        speed = made.decode_tokens_per_s * noise
        return replace(
            made,
            decode_tokens_per_s=speed,
            all_tokens_per_s=speed * made.sequences,
            inter_token_p50_s=1 / speed,
            inter_token_p95_s=1.18 / speed,
            spread=abs(noise - 1) + 0.004,
            ttft_spread=0.011,
        )


@dataclass(kw_only=True)
class GpuWorld(DemoWorld):
    """One L4 with a Hub model: its files come first, its caches are scored, and not every point goes well."""

    downloads: bool = True
    random_weights: bool = False
    device_kind: str = "cuda"
    device_bytes: int = L4_BYTES

    def load(self) -> Loaded:
        packed = weights_bytes(self.record, self.asked.dtype)
        environment = ENVIRONMENT | {"gpu": L4["name"], "driver": "580.65.06", "prompts": OWN_LENGTHS}
        return replace(super().load(), weights_bytes=packed, device=L4, environment=environment, load_s=11.6)

    def quality(self, ask: QualityAsk) -> Quality:
        if ask.strategy == Strategy.parse("quantized:quanto:4"):
            return ask.without_figures(QualityOutcome.NOT_MEASURED, TOO_SLOW)
        return replace(super().quality(ask), text="the team's own prompts", elapsed_s=9.4)

    def _run(self, blank: Measurement, ask: Any) -> Measurement:
        made = super()._run(blank, ask)
        if made.outcome is not Outcome.OK:
            return made
        made = replace(made, **self._on_cards(made))
        match len(self.asks):
            case 3:
                return replace(made, repeats=4, noisy=True, spread=0.12, ttft_spread=0.07)
            case 5:
                return replace(made, tainted=DISTURBED)
            case 6:
                return replace(made, fresh_process=REFUSED_THERE)
        return made

    def _on_cards(self, made: Measurement) -> Mapping[str, Any]:
        return on_cards(made, {"cuda:0": 1.0})


@dataclass(kw_only=True)
class TwoCardsWorld(GpuWorld):
    """The same model over two cards, without a download, on random tokens."""

    downloads: bool = False
    device_bytes: int = 2 * L4_BYTES

    def load(self) -> Loaded:
        environment = {name: told for name, told in super().load().environment.items() if name != "prompts"}
        return replace(super().load(), device=TWO_L4, environment=environment)

    def _on_cards(self, made: Measurement) -> Mapping[str, Any]:
        return on_cards(made, {"cuda:0": 0.52, "cuda:1": 0.48})


OWN_LENGTHS = {"count": 212, "p50": 812, "p95": 3_100, "longest": 4_093, "sha256": "0" * 64}


def on_cards(made: Measurement, shares: Mapping[str, float]) -> dict[str, Any]:
    """Each card's figures, and their sums: every card has a CUDA context beside its share of the bytes."""
    peak, kv = made.peak_bytes or 0, made.kv_bytes or 0
    weights = peak - (made.working_bytes or 0) - kv
    by_device = {
        name: {
            "weights_bytes": int(weights * share),
            "kv_bytes": int(kv * share),
            "peak_bytes": int(peak * share) + CONTEXT_BYTES,
            "reserved_bytes": int(peak * share * 1.06) + CONTEXT_BYTES,
            "device_used_bytes": int(peak * share * 1.06) + CONTEXT_BYTES + 9 * MIB,
            "context_bytes": CONTEXT_BYTES,
        }
        for name, share in shares.items()
    }
    totals = {name: sum(card[name] for card in by_device.values()) for name in ("peak_bytes", "reserved_bytes")}
    context_bytes = CONTEXT_BYTES * len(shares)
    return totals | {"by_device": by_device, "working_bytes": (made.working_bytes or 0) + context_bytes}


def packable_record() -> InspectionRecord:
    """The demo's model with its files at hand: bitsandbytes may pack its weights while they are loaded."""
    packed = StoredWeights(
        method="bitsandbytes",
        bits=4,
        source=ON_THE_FLY_SOURCE,
        file_bytes=None,
        device_bytes={"bfloat16": 108 * MIB},
        dequantized=False,
    )
    rungs = record().rungs
    smallest = tuple(replace(rung, strategy="quantized:hqq:2") for rung in rungs if rung.strategy == "quantized:hqq:4")
    return record(
        model="HuggingFaceTB/SmolLM2-135M",
        native_context=8192,
        on_the_fly={"bnb4": packed},
        rungs=(*rungs, *smallest),
    )
