"""One real measuring process for the folder: importing torch and transformers takes seconds."""

import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from jobs.procedure.measurement import Ask, Loaded, Measurement
from jobs.running.process import MeasuringProcess
from jobs.sizing.model_spec import ModelKind, ModelSpec
from jobs.sizing.strategy import Strategy
from jobs.sizing.units import GIB

PATIENCE_S = 300.0
LLAMA: dict[str, Any] = {
    "model_type": "llama",
    "vocab_size": 512,
    "hidden_size": 256,
    "intermediate_size": 256,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "num_key_value_heads": 4,
    "head_dim": 64,
    "max_position_embeddings": 4096,
    "tie_word_embeddings": True,
}
MISTRAL = LLAMA | {"model_type": "mistral", "sliding_window": 16}
TOKEN_ELEMENTS = 4 * 4 * (64 + 64)
"""Layers × heads × (key + value width) of LLAMA: what one token of one sequence takes in the cache."""


class Tiny:
    """A small model in the shared process, loaded again only when another is asked for."""

    def __init__(self) -> None:
        self.process = self._start()
        self._loaded: tuple[Any, Loaded] | None = None

    @staticmethod
    def _start() -> MeasuringProcess:
        return MeasuringProcess(environment=os.environ | {"OMP_NUM_THREADS": "1"}).__enter__()

    def load(self, config: dict[str, Any], dtype: str = "float32") -> Loaded:
        spec = ModelSpec(kind=ModelKind.ARCHITECTURE, name="tiny", config=config, random_weights=True)
        if not self.process.is_alive:
            self.process, self._loaded = self._start(), None
        if self._loaded is None or self._loaded[0] != (config, dtype):
            data = self.process.request(
                "load", patience_s=PATIENCE_S, model=spec.as_json(), dtype=dtype, device="cpu", attention="sdpa"
            )
            self._loaded = (config, dtype), Loaded(**data)
        return self._loaded[1]

    def forget(self) -> None:
        """The process is about to be given another model by the test itself."""
        if not self.process.is_alive:
            self.process = self._start()
        self._loaded = None

    def measure(self, strategy: str = "default", *, enforce: bool = True, **changes: Any) -> Measurement:
        fields: dict[str, Any] = {
            "stage": "baseline",
            "strategy": Strategy.parse(strategy),
            "prompt_tokens": 256,
            "answer_tokens": 8,
            "sequences": 1,
            "capacity_bytes": GIB,
        }
        ask = Ask(**fields | changes)
        return Measurement.from_json(
            self.process.request("measure", patience_s=PATIENCE_S, enforce=enforce, **ask.as_json())
        )


@pytest.fixture(scope="session")
def tiny() -> Iterator[Tiny]:
    one = Tiny()
    yield one
    one.process.kill()


@pytest.fixture
def llama(tiny: Tiny) -> Callable[..., Measurement]:
    """Measures the tiny Llama in float32."""
    tiny.load(LLAMA)
    return tiny.measure
