"""A model in a GGUF file: sized from its header, unpacked when loaded, refused when it is cut off or in parts."""

import struct
from pathlib import Path

import gguf
import numpy as np
import pytest

from jobs.measuring.gguf_header import NoGguf, read_gguf_header
from jobs.measuring.inspect import inspect_model_spec
from jobs.running.model_source import resolve_model
from jobs.sizing.model_spec import ModelSpec
from jobs.sizing.refusal import Refusal
from tests.measuring.conftest import Tiny

WIDTH, INNER, VOCABULARY, LAYERS = 64, 96, 32, 2
MATRICES = {
    "attn_q": (WIDTH, WIDTH),
    "attn_k": (32, WIDTH),
    "attn_v": (32, WIDTH),
    "attn_output": (WIDTH, WIDTH),
    "ffn_gate": (INNER, WIDTH),
    "ffn_up": (INNER, WIDTH),
    "ffn_down": (WIDTH, INNER),
}
PACKED = VOCABULARY * WIDTH + LAYERS * sum(rows * columns for rows, columns in MATRICES.values())
PLAIN = WIDTH * (1 + 2 * LAYERS)
FILE_BYTES = PACKED // 32 * 34 + 4 * PLAIN
"""Q8_0 packs 32 weights in 34 bytes; norms stay in float32."""


def write(path: Path, *, architecture: str = "llama", parts: int = 1) -> Path:
    """A tiny model whose output matrix is its embedding, packed as Q8_0."""
    file = gguf.GGUFWriter(path, architecture)
    file.add_block_count(LAYERS)
    file.add_context_length(512)
    file.add_embedding_length(WIDTH)
    file.add_feed_forward_length(INNER)
    file.add_head_count(4)
    file.add_head_count_kv(2)
    file.add_layer_norm_rms_eps(1e-5)
    file.add_rope_freq_base(10_000.0)
    file.add_vocab_size(VOCABULARY)
    file.add_tokenizer_model("gpt2")
    file.add_token_list([f"t{index}" for index in range(VOCABULARY)])
    if parts > 1:
        file.add_uint16("split.count", parts)
    matrices = {"token_embd": (VOCABULARY, WIDTH)}
    for layer in range(LAYERS):
        matrices |= {f"blk.{layer}.{name}": shape for name, shape in MATRICES.items()}
    for name, shape in matrices.items():
        values = gguf.quantize(np.full(shape, 0.01, dtype=np.float32), gguf.GGMLQuantizationType.Q8_0)
        file.add_tensor(f"{name}.weight", values, raw_dtype=gguf.GGMLQuantizationType.Q8_0)
    norms = ["output_norm", *(f"blk.{layer}.{name}" for layer in range(LAYERS) for name in ("attn_norm", "ffn_norm"))]
    for name in norms:
        file.add_tensor(f"{name}.weight", np.ones(WIDTH, dtype=np.float32))
    file.write_header_to_file()
    file.write_kv_data_to_file()
    file.write_tensors_to_file()
    file.close()
    return path


def refusal(spec: ModelSpec) -> Refusal:
    with pytest.raises(Refusal) as refused:
        inspect_model_spec(spec, dtypes=["bfloat16"], sequences=[1], tokens=[16], strategies=["default"])
    assert refused.value.hint
    return refused.value


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("gguf") / "tiny.Q8_0.gguf")


def test_a_gguf_file_is_sized_in_its_file_and_unpacked_on_the_device(file: Path) -> None:
    spec = resolve_model(str(file), any_folder=True)
    record = inspect_model_spec(spec, dtypes=["bfloat16"], sequences=[1], tokens=[16], strategies=["default"])
    assert record.stored is not None
    assert (record.stored.method, record.stored.bits, record.stored.dequantized) == ("gguf", 8, True)
    assert record.stored.file_bytes == FILE_BYTES
    assert record.stored.device_bytes["bfloat16"] == 2 * (PACKED + PLAIN)
    assert (record.parameters, record.random_weights, record.native_context) == (PACKED + PLAIN, False, 512)


def test_it_is_loaded_with_its_own_weights_unpacked(file: Path, tiny: Tiny) -> None:
    spec = resolve_model(str(file.parent), any_folder=True)
    tiny.forget()
    loaded = tiny.process.request(
        "load", patience_s=300, model=spec.as_json(), dtype="bfloat16", device="cpu", attention="sdpa"
    )
    assert (loaded["random_weights"], loaded["parameters"]) == (False, PACKED + PLAIN)


def test_a_file_that_is_cut_off_is_refused_wherever_it_ends(file: Path, tmp_path: Path) -> None:
    whole = file.read_bytes()
    cut = tmp_path / "cut.gguf"
    for kept in (0, 3, 20, 100, len(whole) // 2, len(whole) - 1):
        cut.write_bytes(whole[:kept])
        with pytest.raises(NoGguf, match="it ends"):
            read_gguf_header(cut)
    found = refusal(resolve_model(str(cut), any_folder=True))
    assert (found.code, "cut.gguf" in found.message) == ("broken_weights", True)


def test_what_is_no_gguf_is_refused(tmp_path: Path) -> None:
    (tmp_path / "page.gguf").write_text("<!DOCTYPE html> not what was asked for")
    assert refusal(resolve_model(str(tmp_path), any_folder=True)).code == "broken_weights"


def test_one_of_several_parts_and_an_unread_architecture_are_refused(tmp_path: Path) -> None:
    split = write(tmp_path / "tiny-00001-of-00003.gguf", parts=3)
    assert refusal(resolve_model(str(split), any_folder=True)).code == "split_gguf"
    foreign = write(tmp_path / "foreign.gguf", architecture="no-such-one")
    assert refusal(resolve_model(str(foreign), any_folder=True)).code == "unknown_model_type"


def test_counts_that_no_file_has_are_refused_at_once(file: Path, tmp_path: Path) -> None:
    whole = bytearray(file.read_bytes())
    for at, why in ((8, "entries"), (16, "entries")):  # of tensors, of metadata
        lying = tmp_path / "lying.gguf"
        lying.write_bytes(whole[:at] + struct.pack("<Q", 2**62) + whole[at + 8 :])
        with pytest.raises(NoGguf, match=why):
            read_gguf_header(lying)
    name = b"blk.0.attn_norm.weight"
    at = whole.index(name) + len(name)
    lying.write_bytes(whole[:at] + struct.pack("<I", 2**32 - 1) + whole[at + 4 :])
    with pytest.raises(NoGguf, match="dimensions"):
        read_gguf_header(lying)
