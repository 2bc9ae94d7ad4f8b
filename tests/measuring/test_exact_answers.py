"""The answer has the tokens that were asked for, whatever the model's files say of when and how to stop."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from jobs.measuring.generating import EndedEarly, measured
from jobs.measuring.settings import generation_config
from jobs.measuring.timing import Stopwatch
from jobs.procedure.measurement import Outcome
from jobs.sizing.model_spec import ModelKind, ModelSpec
from jobs.sizing.strategy import BASELINE
from tests.measuring.conftest import LLAMA, PATIENCE_S, Tiny

SMALL = LLAMA | {"hidden_size": 64, "intermediate_size": 64, "num_hidden_layers": 1}
TOKEN_BYTES = 4 * (64 + 64) * 4
VOCABULARY = 512
LAYER = "model.layers.0."
SHAPES = {
    "model.embed_tokens": (VOCABULARY, 64),
    "model.norm": (64,),
    LAYER + "input_layernorm": (64,),
    LAYER + "post_attention_layernorm": (64,),
    LAYER + "self_attn.q_proj": (256, 64),
    LAYER + "self_attn.k_proj": (256, 64),
    LAYER + "self_attn.v_proj": (256, 64),
    LAYER + "self_attn.o_proj": (64, 256),
    LAYER + "mlp.gate_proj": (64, 64),
    LAYER + "mlp.up_proj": (64, 64),
    LAYER + "mlp.down_proj": (64, 64),
}
STOPS: dict[str, Any] = {
    "eos_token_id": list(range(VOCABULARY)),
    "forced_bos_token_id": 4,
    "forced_eos_token_id": 3,
    "suppress_tokens": list(range(100, 200)),
    "begin_suppress_tokens": [101, 102],
    "max_length": 5,
    "max_new_tokens": 2,
    "max_time": 0.001,
    "stop_strings": ["a"],
    "do_sample": True,
    "num_beams": 2,
    "repetition_penalty": 1.3,
    "no_repeat_ngram_size": 2,
    "cache_implementation": "static",
    "use_cache": False,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of whose config and generation_config any one setting would end, shorten or change the answer."""
    from safetensors.torch import save_file

    path = tmp_path_factory.mktemp("stops")
    generator = torch.Generator().manual_seed(0)
    weights = {f"{name}.weight": torch.randn(shape, generator=generator) for name, shape in SHAPES.items()}
    save_file(weights, path / "model.safetensors", metadata={"format": "pt"})
    config = SMALL | {"architectures": ["LlamaForCausalLM"], "eos_token_id": list(range(256, VOCABULARY))}
    (path / "config.json").write_text(json.dumps(config))
    (path / "generation_config.json").write_text(json.dumps(STOPS))
    return path


def test_no_setting_of_the_models_own_ends_or_changes_the_answer(tiny: Tiny, folder: Path) -> None:
    spec = ModelSpec(kind=ModelKind.FOLDER, name="stops", path=str(folder))
    tiny.forget()
    tiny.process.request(
        "load", patience_s=PATIENCE_S, model=spec.as_json(), dtype="float32", device="cpu", attention="sdpa"
    )
    for strategy in ("default", "static", "quantized:hqq:4", "chunked:64"):
        found = tiny.measure(strategy, answer_tokens=12)
        assert found.outcome is Outcome.OK, found.error
        if not strategy.startswith("quantized"):
            assert found.kv_bytes == (256 + 12 - 1) * TOKEN_BYTES
        own = {name for name, value in STOPS.items() if found.settings.get(name) == value}
        assert own <= {"cache_implementation"} if strategy == "static" else not own


def test_an_answer_cut_short_is_no_measurement() -> None:
    with pytest.raises(EndedEarly, match="3 of the 8 tokens"):
        measured(
            Short(tokens=3),
            generation_config(BASELINE, answer_tokens=8),
            torch.ones(1, 4, dtype=torch.long),
            memory=NoMemory(),
            stopwatch=Stopwatch(),
            still_alive=lambda tokens: None,
        )


class Short:
    """A model whose generate() gives fewer tokens than it is asked for."""

    def __init__(self, *, tokens: int) -> None:
        self.tokens = tokens

    def register_forward_hook(self, hook: Any) -> Any:
        return self

    def remove(self) -> None: ...

    def generate(self, prompt_ids: Any, *, streamer: Any, **options: Any) -> None:
        for _ in range(1 + self.tokens):  # the prompt comes first
            streamer.put(prompt_ids)
        streamer.end()


class NoMemory:
    kind = "cpu"

    def start(self) -> None: ...

    def peak_bytes(self) -> int:
        return 0

    def host_bytes(self, cache_bytes: int) -> int:
        return 0

    def note_cache(self, cache: Any) -> None: ...

    def synchronise(self) -> None: ...
