"""Records made by hand, for rules that need no model."""

from jobs.sizing.record import InspectionRecord, LayerGroup, LayerKind, PeakRung, Phase
from jobs.sizing.strategy import Strategy

GROWING = LayerGroup(kind=LayerKind.GROWING, count=4, heads=2, key_width=64, value_width=32)
WINDOWED = LayerGroup(
    kind=LayerKind.WINDOWED,
    count=3,
    heads=2,
    key_width=64,
    value_width=64,
    window_tokens=15,
    static_window_tokens=16,
)
FIXED = LayerGroup(kind=LayerKind.FIXED, count=2, state_elements=100, state_float32_elements=50)
SHARED = LayerGroup(kind=LayerKind.SHARED, count=5)
STRATEGIES = (
    "default",
    "static",
    "offloaded",
    "offloaded_static",
    "quantized:hqq:8",
    "quantized:hqq:4",
    "quantized:hqq:2",
    "quantized:quanto:4",
    "quantized:quanto:2",
    "quantized:fp8",
    "chunked:8",
    "static+chunked:8",
    "quantized:hqq:4+chunked:8",
)
RUNG_TOKENS = (1, 16, 64, 256, 1024, 4096)


def record(*layers: LayerGroup, refusals: dict[str, str] | None = None) -> InspectionRecord:
    """A model of these layers; its passes need 1,000 bytes a token to prefill and 10 to decode."""
    return InspectionRecord(
        model="hand-made",
        model_type="made",
        architecture="MadeForCausalLM",
        config_hash="0" * 64,
        versions={"transformers": "0"},
        parameters=500,
        weights_bytes={"bfloat16": 1000, "float32": 2000},
        native_context=None,
        vocabulary=100,
        layers=layers,
        rungs=tuple(_rungs()),
        refusals=refusals or {},
    )


def _rungs() -> list[PeakRung]:
    names = [name for name in STRATEGIES if not name.startswith("offloaded")]
    return [
        PeakRung(
            phase=phase,
            strategy=name,
            dtype="bfloat16",
            attention="sdpa",
            sequences=1,
            tokens=tokens,
            working_bytes=tokens * (1000 if phase is Phase.PREFILL else 10),
        )
        for name in names
        for phase in Phase
        for tokens in RUNG_TOKENS
        if phase is Phase.PREFILL or "chunked" not in name
    ]


def strategy(name: str) -> Strategy:
    return Strategy.parse(name)
