"""Weights packed while they are loaded: counted to the byte, as estimated, and refused where they cannot be."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from jobs.measuring.inspect import inspect_model_spec
from jobs.measuring.loading import _placed, load_model
from jobs.measuring.packed_weights import refuse_unloadable
from jobs.measuring.weights import held_tensors, weights_bytes
from jobs.procedure.measurement import Loaded, Measurement
from jobs.sizing.model_spec import ModelKind, ModelSpec
from jobs.sizing.refusal import Refusal
from jobs.sizing.stored import with_weights
from tests.measuring.conftest import LLAMA, PATIENCE_S, Tiny

SPEC = ModelSpec(kind=ModelKind.ARCHITECTURE, name="tiny", config=LLAMA, random_weights=True)
STORED = ModelSpec(kind=ModelKind.HUB, name="org/packed")
TABLES_BYTES = 256
"""The rotary frequencies, twice: computed while loading, and working memory to an estimate."""


class Config:
    """What a config says of packing."""

    def __init__(self, **fields: Any) -> None:
        self.quantization_config = fields or None

    def get_text_config(self, *, decoder: bool) -> "Config":
        return self


def loaded(tiny: Tiny, weights: str, spec: ModelSpec = SPEC) -> Loaded:
    tiny.forget()
    asked: dict[str, Any] = {"dtype": "bfloat16", "device": "cpu", "attention": "sdpa", "weights": weights}
    return Loaded(**tiny.process.request("load", patience_s=PATIENCE_S, model=spec.as_json(), **asked))


@pytest.mark.parametrize("weights", ["bnb4", "bnb8"])
def test_random_weights_packed_while_loaded_take_what_was_estimated_and_run(tiny: Tiny, weights: str) -> None:
    found = loaded(tiny, weights)
    record = inspect_model_spec(SPEC, dtypes=["bfloat16"], sequences=[1], tokens=[16], strategies=["default"])
    estimated = with_weights(record, weights).stored
    assert estimated is not None
    beside = found.weights_bytes - TABLES_BYTES - estimated.device_bytes["bfloat16"]
    assert 0 <= beside <= (28 * 32 if weights == "bnb8" else 0), "8 bits keep the outlying columns of the last pass"
    assert found.environment["weights"] == weights
    measured: Measurement = tiny.measure(prompt_tokens=64, answer_tokens=4)
    assert measured.outcome == "ok"
    assert measured.peak_bytes is not None
    assert measured.peak_bytes > found.weights_bytes


def test_what_packing_keeps_beside_the_codes_is_counted_wherever_it_lies() -> None:
    class State:
        def __init__(self) -> None:
            self.absmax = torch.zeros(100)
            self.nested = {"offset": torch.zeros(1), "scales": [torch.zeros(10), torch.zeros(20)]}

    layer = nn.Linear(8, 8, bias=False)
    layer.weight.quant_state = State()  # type: ignore[attr-defined]
    layer.state = State()
    layer.shared = layer.state.absmax
    layer.weight.module = layer  # type: ignore[attr-defined]
    assert weights_bytes(layer) == 4 * (64 + 2 * (100 + 1 + 10 + 20))
    assert all(isinstance(tensor, torch.Tensor) for tensor in held_tensors(layer))


def test_views_into_one_storage_count_once_and_only_what_they_cover() -> None:
    whole = torch.zeros(1000)
    layer = nn.Module()
    layer.first, layer.again, layer.second = whole[:100], whole[:100], whole[200:250]
    assert weights_bytes(layer) == 4 * 150


@pytest.mark.parametrize(
    ("fields", "weights", "device", "code", "said"),
    [
        ({"quant_method": "gptq", "bits": 4}, "as-stored", "cpu", "packages_missing", "pip install optimum gptqmodel"),
        ({"quant_method": "awq", "bits": 4}, "as-stored", "cpu", "packages_missing", "pip install gptqmodel"),
        ({"quant_method": "compressed-tensors"}, "as-stored", "cpu", "packages_missing", "compressed-tensors"),
        ({"quant_method": "fbgemm_fp8"}, "as-stored", "cpu", "needs_gpu", "Choose a GPU"),
        ({"quant_method": "spqr"}, "as-stored", "cpu", "needs_gpu", "Choose a GPU"),
        ({"quant_method": "fp8"}, "as-stored", "cuda:0", "packages_missing", "pip install kernels"),
        ({"quant_method": "nonsense"}, "as-stored", "cpu", "load_failed", "Install"),
        ({"quant_method": "fp8"}, "bnb4", "cpu", "bad_weights", "as they are stored"),
        ({"quant_method": "gptq", "bits": 4}, "bnb8", "cuda:0", "bad_weights", "as they are stored"),
    ],
)
def test_packed_weights_that_cannot_be_loaded_here_are_refused_beforehand(
    fields: dict[str, Any], weights: str, device: str, code: str, said: str
) -> None:
    with pytest.raises(Refusal) as refused:
        refuse_unloadable(Config(**fields), STORED, weights=weights, device=device)
    assert refused.value.code == code
    assert said in refused.value.hint
    assert "org/packed" in refused.value.message


@pytest.mark.parametrize("fields", [{}, {"quant_method": "fp8"}, {"quant_method": "mxfp4"}])
def test_weights_that_a_cpu_unpacks_or_that_are_plain_are_loaded(fields: dict[str, Any]) -> None:
    refuse_unloadable(Config(**fields), STORED, weights="as-stored", device="cpu")


def test_a_gguf_file_is_not_packed_again() -> None:
    spec = ModelSpec(kind=ModelKind.FOLDER, name="mine", path="/m", gguf_file="tiny.gguf")
    with pytest.raises(Refusal, match="packed already, as gguf"):
        refuse_unloadable(None, spec, weights="bnb4", device="cpu")


def test_a_folder_s_weights_are_packed_alike_and_what_was_kept_packed_is_loaded_as_it_is(
    tiny: Tiny, tmp_path: Path
) -> None:
    plain, kept = (ModelSpec(kind=ModelKind.FOLDER, name=name, path=str(tmp_path / name)) for name in ("plain", "kept"))
    drawn = load_model(SPEC, dtype="bfloat16", device="cpu", attention="sdpa", tell=lambda text: None)
    drawn.model.save_pretrained(plain.path)
    packed = load_model(plain, dtype="bfloat16", device="cpu", attention="sdpa", weights="bnb4", tell=lambda text: None)
    packed.model.save_pretrained(kept.path)
    found = loaded(tiny, "as-stored", kept)
    assert found.weights_bytes == packed.weights_bytes < drawn.weights_bytes
    assert not found.random_weights
    with pytest.raises(Refusal) as refused:
        loaded(tiny, "bnb8", kept)
    assert refused.value.code == "bad_weights"
    assert _placed(plain, None, "cuda:1") == {}
    assert _placed(plain, object(), "cuda:1") == _placed(kept, None, "cuda:1") == {"device_map": {"": "cuda:1"}}
