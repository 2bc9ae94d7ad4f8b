"""What the files of a model hold, told by their headers; what is cut off or missing is refused."""

import json
import struct
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file

from jobs.measuring.inspect import inspect_model_spec
from jobs.measuring.stored_headers import file_bytes, folder_tensors
from jobs.sizing.model_spec import ModelKind, ModelSpec
from jobs.sizing.record import InspectionRecord
from jobs.sizing.refusal import Refusal

LLAMA = {
    "model_type": "llama",
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "vocab_size": 128,
    "max_position_embeddings": 512,
}
INDEX = "model.safetensors.index.json"


def weights() -> dict[str, torch.Tensor]:
    """All that LLAMA asks for, in bfloat16."""
    shapes = {"model.embed_tokens": (128, 64), "model.norm": (64,), "lm_head": (128, 64)}
    for layer in ("model.layers.0", "model.layers.1"):
        shapes |= {
            f"{layer}.input_layernorm": (64,),
            f"{layer}.post_attention_layernorm": (64,),
            f"{layer}.self_attn.q_proj": (64, 64),
            f"{layer}.self_attn.k_proj": (32, 64),
            f"{layer}.self_attn.v_proj": (32, 64),
            f"{layer}.self_attn.o_proj": (64, 64),
            f"{layer}.mlp.gate_proj": (96, 64),
            f"{layer}.mlp.up_proj": (96, 64),
            f"{layer}.mlp.down_proj": (64, 96),
        }
    return {f"{name}.weight": torch.zeros(shape, dtype=torch.bfloat16) for name, shape in shapes.items()}


def model(folder: Path, **more: Any) -> ModelSpec:
    (folder / "config.json").write_text(json.dumps(LLAMA | more))
    return ModelSpec(kind=ModelKind.FOLDER, name="mine", path=str(folder))


def inspected(spec: ModelSpec) -> InspectionRecord:
    return inspect_model_spec(spec, dtypes=["bfloat16"], sequences=[1], tokens=[16], strategies=["default"])


def code_of(folder: Path) -> str:
    with pytest.raises(Refusal) as refused:
        folder_tensors("mine", folder)
    assert refused.value.hint
    return f"{refused.value.code}: {refused.value.message}"


def sharded(folder: Path, *, parts: int = 2) -> None:
    tensors = list(weights().items())
    weight_map = {}
    for part in range(parts):
        name = f"model-{part + 1:05}-of-{parts:05}.safetensors"
        own = dict(tensors[part::parts])
        save_file(own, str(folder / name))
        weight_map |= dict.fromkeys(own, name)
    (folder / INDEX).write_text(json.dumps({"metadata": {}, "weight_map": weight_map}))


def test_a_whole_file_and_whole_shards_hold_the_same_bytes(tmp_path: Path) -> None:
    (one := tmp_path / "one").mkdir()
    (many := tmp_path / "many").mkdir()
    save_file(weights(), str(one / "model.safetensors"))
    sharded(many, parts=3)
    expected = sum(tensor.nbytes for tensor in weights().values())
    for folder in (one, many):
        tensors = folder_tensors("mine", folder)
        assert tensors is not None
        assert file_bytes(tensors) == expected
    assert folder_tensors("mine", tmp_path) is None


def test_plain_floats_are_no_packing_and_their_model_is_no_random_one(tmp_path: Path) -> None:
    spec = model(tmp_path)
    assert inspected(spec).random_weights
    save_file(weights(), str(tmp_path / "model.safetensors"))
    found = inspected(spec)
    assert (found.stored, found.random_weights) == (None, False)


def test_a_model_that_lacks_a_tensor_is_refused_and_one_whose_output_is_tied_lacks_none(tmp_path: Path) -> None:
    tensors = weights()
    del tensors["lm_head.weight"]
    save_file(tensors, str(tmp_path / "model.safetensors"))
    with pytest.raises(Refusal) as refused:
        inspected(model(tmp_path))
    assert refused.value.code == "missing_weights"
    assert "8,192" in refused.value.message
    assert inspected(model(tmp_path, tie_word_embeddings=True)).stored is None


def test_the_files_of_a_packed_model_are_told_beside_what_it_takes_on_the_device(tmp_path: Path) -> None:
    save_file(weights(), str(tmp_path / "model.safetensors"))
    for method, bits in (("fp8", 8), ("unheard-of", None)):
        quantization = {"quant_method": method, "weight_block_size": [128, 128], "activation_scheme": "dynamic"}
        stored = inspected(model(tmp_path, quantization_config=quantization)).stored
        assert stored is not None
        assert (stored.source, stored.bits) == ("safetensors", bits)
        assert stored.file_bytes == sum(tensor.nbytes for tensor in weights().values())
        assert (stored.device_bytes["bfloat16"] == stored.file_bytes) is (bits is None)


def test_a_missing_shard_and_a_missing_tensor_are_named(tmp_path: Path) -> None:
    sharded(tmp_path)
    index = json.loads((tmp_path / INDEX).read_text())
    index["weight_map"]["model.extra.weight"] = "model-00001-of-00002.safetensors"
    (tmp_path / INDEX).write_text(json.dumps(index))
    assert code_of(tmp_path).startswith("missing_weights: The files of “mine” lack the weights model.extra.weight")
    (tmp_path / "model-00002-of-00002.safetensors").unlink()
    assert "lacks model-00002-of-00002.safetensors, of 2 files" in code_of(tmp_path)
    (tmp_path / INDEX).unlink()
    assert code_of(tmp_path).startswith("missing_weights")


@pytest.mark.parametrize("kept_bytes", [0, 5, 100, -1])
def test_a_file_that_is_cut_off_is_refused(tmp_path: Path, kept_bytes: int) -> None:
    path = tmp_path / "model.safetensors"
    save_file(weights(), str(path))
    whole = path.read_bytes()
    path.write_bytes(whole[:kept_bytes])
    assert code_of(tmp_path).startswith("broken_weights: model.safetensors of “mine” is broken: it ends")


@pytest.mark.parametrize(
    "content",
    [
        b"<!DOCTYPE html><html>",
        b"version https://git-lfs.github.com/spec/v1\n",
        struct.pack("<Q", 2) + b"[]",
        struct.pack("<Q", 4) + b"\xff\xfe{}",
        struct.pack("<Q", 8) + b'{"a": 1}',
        struct.pack("<Q", 53) + b'{"a":{"dtype":"F8","shape":[2],"data_offsets":[9,1]}}',
    ],
)
def test_a_file_that_is_no_safetensors_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "model.safetensors").write_bytes(content)
    assert code_of(tmp_path).startswith("broken_weights")


@pytest.mark.parametrize("index", ["[]", "{", "{}", '{"weight_map": {"a": "../b.safetensors"}}', '{"weight_map": 3}'])
def test_an_index_that_names_nothing_beside_it_is_refused(tmp_path: Path, index: str) -> None:
    (tmp_path / INDEX).write_text(index)
    assert code_of(tmp_path).startswith("broken_weights")


@pytest.mark.parametrize(
    "lie",
    [
        {"shape": [float("nan")]},
        {"shape": [float("inf")]},
        {"shape": [10**4000] * 4},
        {"shape": [1] * 2000},
        {"shape": [-64]},
        {"dtype": "ZZ"},
        {"shape": [10_000]},
        {"data_offsets": [0, 8.9]},
    ],
    ids=str,
)
def test_a_header_that_cannot_be_true_is_broken(tmp_path: Path, lie: dict[str, Any]) -> None:
    row = {"dtype": "BF16", "shape": [4], "data_offsets": [0, 8]} | lie
    header = json.dumps({"one": row}).encode()
    (tmp_path / "model.safetensors").write_bytes(struct.pack("<Q", len(header)) + header + bytes(8))
    assert code_of(tmp_path).startswith("broken_weights:")
