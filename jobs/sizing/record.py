"""What one pass over a model on the meta device found: the data that sizing is arithmetic over."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any, NamedTuple

FLOAT32_BYTES = 4
ON_THE_FLY_SOURCE = "on_the_fly"


class LayerKind(StrEnum):
    GROWING = "growing"  # full attention: holds every token
    WINDOWED = "windowed"  # sliding or chunked attention: stops growing
    FIXED = "fixed"  # linear attention or state space: constant per sequence
    SHARED = "shared"  # reads another layer's cache, stores nothing


class Phase(StrEnum):
    PREFILL = "prefill"
    DECODE = "decode"


@dataclass(frozen=True, kw_only=True)
class LayerGroup:
    """`count` layers alike. Elements are of one sequence; key and value together where not said.

    heads, key_width, value_width: the cached tensors' shape [sequences, heads, tokens, width].
    window_tokens: tokens that a windowed layer's dynamic cache holds once full (window − 1);
    static_window_tokens: the same layer's slots in a static cache.
    state_elements: constant state in the compute precision; state_float32_elements: in float32.
    A hybrid layer with both attention and state is GROWING (or WINDOWED) and carries state elements too.
    pool: (elements, stride) pairs: so many elements for every whole `stride` tokens (compressed attention);
    pool_float32: the same, kept in float32; buffer: (elements, stride) pairs: so many for each token since the last
    whole stride.
    prompt_elements: what a one-shot prefill keeps alive for each token of the prompt beside the pool, where it is known
    to differ from token_elements (caches whose parts are views of larger tensors).
    """

    kind: LayerKind
    count: int
    heads: int = 0
    key_width: int = 0
    value_width: int = 0
    window_tokens: int | None = None
    static_window_tokens: int | None = None
    state_elements: int = 0
    state_float32_elements: int = 0
    pool: tuple[tuple[int, int], ...] = ()
    pool_float32: tuple[tuple[int, int], ...] = ()
    buffer: tuple[tuple[int, int], ...] = ()
    prompt_elements: int | None = None

    @property
    def token_elements(self) -> int:
        return self.heads * (self.key_width + self.value_width)

    def pool_bytes(self, tokens: int, element_bytes: int) -> int:
        """Bytes of one sequence in the entries of whole strides."""
        return _strided(self.pool, tokens) * element_bytes + _strided(self.pool_float32, tokens) * FLOAT32_BYTES

    def buffer_bytes(self, tokens: int, element_bytes: int) -> int:
        """Bytes of one sequence in the tokens that wait for their stride to be whole."""
        return sum(elements * (tokens % stride) for elements, stride in self.buffer) * element_bytes


def _strided(pairs: tuple[tuple[int, int], ...], tokens: int) -> int:
    return sum(elements * (tokens // stride) for elements, stride in pairs)


@dataclass(frozen=True, kw_only=True)
class PeakRung:
    """Working bytes (peak − weights − KV of that phase) that one pass needs at `tokens` cached tokens per sequence.

    padded: some sequences are shorter and were filled up on the left, so that every pass carries a mask.
    """

    phase: Phase
    strategy: str
    dtype: str
    attention: str
    sequences: int
    tokens: int
    working_bytes: int
    padded: bool = False


class Point(NamedTuple):
    """One rung of a ladder: the working bytes at so many cached tokens per sequence."""

    tokens: int
    working_bytes: int


class LadderKind(NamedTuple):
    """What the rungs of one ladder have in common, beside their number of sequences."""

    phase: Phase
    strategy: str
    attention: str
    padded: bool
    dtype: str


Ladders = Mapping[int, tuple[Point, ...]]
"""By number of sequences: points in the order of their tokens."""


@dataclass(frozen=True, kw_only=True)
class StoredWeights:
    """How the model's files hold the weights, or would by its config, where that is not the compute precision.

    method: "fp8", "mxfp4", "bitsandbytes", "gptq", "awq", "gguf", …
    bits: of one packed weight; None where only the method is known, so that device_bytes are those of the files or,
    without files, of the compute precision.
    source: what told it: "safetensors" (the files' headers), "quantization_config" or "gguf"; "on_the_fly" where the
    files hold plain floats, or nothing, and loading packs them.
    file_bytes: the tensors in the files; None where there are no files.
    device_bytes: by compute precision, what they take on the device once loaded.
    dequantized: whether loading turns them into the compute precision, so that packing saves nothing on the device.
    unpacked_on: the kinds of device ("cpu", "cuda") on which these libraries do so where others keep them packed.
    pass_elements: weights that a pass holds unpacked at once, in the compute precision: working memory.
    """

    method: str
    bits: int | None
    source: str
    file_bytes: int | None
    device_bytes: Mapping[str, int]
    dequantized: bool
    unpacked_on: tuple[str, ...] = ()
    pass_elements: int = 0


@dataclass(frozen=True, kw_only=True)
class InspectionRecord:
    """weights_bytes: every weight in the compute precision, by dtype name ("bfloat16", "float16", "float32"), tied
    weights once, with the buffers that are stored; tables computed at loading (rotary frequencies) count as working
    memory.

    parameters counts tied weights once. native_context is null where the model sets none.
    refusals: strategy name -> the reason that this model cannot take it.
    versions: the libraries that the record came from; config_hash: SHA-256 of the config's canonical JSON.
    stored: how the weights are packed; None where they are not.
    on_the_fly: by name ("bnb4", "bnb8"), how they would be were they packed while they are loaded; empty where that
    cannot be done (jobs.sizing.stored.with_weights).
    random_weights: whether a run of this model draws them, as for an architecture alone: then nothing is packed.
    """

    model: str
    model_type: str
    architecture: str
    config_hash: str
    versions: Mapping[str, str]
    parameters: int
    weights_bytes: Mapping[str, int]
    native_context: int | None
    vocabulary: int
    layers: tuple[LayerGroup, ...]
    rungs: tuple[PeakRung, ...]
    refusals: Mapping[str, str]
    stored: StoredWeights | None = None
    random_weights: bool = False
    on_the_fly: Mapping[str, StoredWeights] = field(default_factory=dict)

    @cached_property
    def ladders(self) -> Mapping[LadderKind, Ladders]:
        """The rungs in order, put together once: a search for the longest context asks for them hundreds of times."""
        found: dict[LadderKind, dict[int, dict[int, int]]] = {}
        for rung in self.rungs:
            kind = LadderKind(rung.phase, rung.strategy, rung.attention, rung.padded, rung.dtype)
            found.setdefault(kind, {}).setdefault(rung.sequences, {})[rung.tokens] = rung.working_bytes
        return {
            kind: {count: tuple(Point(*point) for point in sorted(points.items())) for count, points in counts.items()}
            for kind, counts in found.items()
        }

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "InspectionRecord":
        fields = dict(data)
        fields["layers"] = tuple(_layer_group(row) for row in data["layers"])
        fields["rungs"] = tuple(PeakRung(**{**row, "phase": Phase(row["phase"])}) for row in data["rungs"])
        fields["stored"] = _stored(data["stored"]) if data.get("stored") else None
        fields["on_the_fly"] = {name: _stored(row) for name, row in data.get("on_the_fly", {}).items()}
        return cls(**fields)


def _stored(row: Mapping[str, Any]) -> StoredWeights:
    return StoredWeights(**{**row, "unpacked_on": tuple(row.get("unpacked_on", ()))})


def _layer_group(row: Mapping[str, Any]) -> LayerGroup:
    pairs = {name: tuple((int(a), int(b)) for a, b in row.get(name, ())) for name in ("pool", "pool_float32", "buffer")}
    return LayerGroup(**{**row, **pairs, "kind": LayerKind(row["kind"])})
