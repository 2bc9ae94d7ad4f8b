import json
from pathlib import Path
from typing import Any

import pytest

from jobs.sizing.model_spec import ModelKind, ModelSpec
from jobs.sizing.refusal import Refusal
from tests.measuring.conftest import LLAMA, Tiny
from tests.measuring.tiny_configs import TINY

SMALL = LLAMA | {
    "hidden_size": 64,
    "intermediate_size": 64,
    "num_hidden_layers": 1,
    "architectures": ["LlamaForCausalLM"],
}
PARAMETERS = 512 * 64 + 4 * 64 * 256 + 3 * 64 * 64 + 3 * 64


def folder_with(folder: Path, config: dict[str, Any]) -> ModelSpec:
    (folder / "config.json").write_text(json.dumps(config))
    return ModelSpec(kind=ModelKind.FOLDER, name=folder.name, path=str(folder))


def load(tiny: Tiny, spec: ModelSpec, **changes: str) -> dict[str, Any]:
    fields = {"dtype": "bfloat16", "device": "cpu", "attention": "sdpa"} | changes
    tiny.forget()
    return tiny.process.request("load", patience_s=300, model=spec.as_json(), **fields)


def refused(tiny: Tiny, spec: ModelSpec, **changes: str) -> Refusal:
    with pytest.raises(Refusal) as refusal:
        load(tiny, spec, **changes)
    return refusal.value


def test_a_folder_without_weights_is_an_architecture_with_random_ones(tiny: Tiny, tmp_path: Path) -> None:
    loaded = load(tiny, folder_with(tmp_path, SMALL))
    assert loaded["random_weights"] is True
    assert loaded["parameters"] == PARAMETERS
    assert loaded["weights_bytes"] >= 2 * PARAMETERS


def test_a_folder_with_safetensors_has_its_own_weights(tiny: Tiny, tmp_path: Path) -> None:
    import torch
    from safetensors.torch import save_file

    spec = folder_with(tmp_path, SMALL)
    layer = "model.layers.0."
    shapes = {
        "model.embed_tokens": (512, 64),
        "model.norm": (64,),
        layer + "input_layernorm": (64,),
        layer + "post_attention_layernorm": (64,),
        layer + "self_attn.q_proj": (256, 64),
        layer + "self_attn.k_proj": (256, 64),
        layer + "self_attn.v_proj": (256, 64),
        layer + "self_attn.o_proj": (64, 256),
        layer + "mlp.gate_proj": (64, 64),
        layer + "mlp.up_proj": (64, 64),
        layer + "mlp.down_proj": (64, 64),
    }
    weights = {f"{name}.weight": torch.ones(shape, dtype=torch.bfloat16) for name, shape in shapes.items()}
    save_file(weights, str(tmp_path / "model.safetensors"), metadata={"format": "pt"})
    loaded = load(tiny, spec)
    assert loaded["random_weights"] is False
    assert loaded["parameters"] == PARAMETERS
    assert loaded["weights_bytes"] >= 2 * PARAMETERS
    assert loaded["weights_bytes"] < 2 * PARAMETERS + 4096


def test_packed_weights_whose_package_is_not_here_say_which_to_install(tiny: Tiny, tmp_path: Path) -> None:
    from safetensors.numpy import save_file

    spec = folder_with(tmp_path, SMALL | {"quantization_config": {"quant_method": "awq", "bits": 4, "group_size": 64}})
    save_file({}, str(tmp_path / "model.safetensors"))
    refusal = refused(tiny, spec)
    assert (refusal.code, "gptqmodel" in refusal.message, "pip install" in refusal.hint) == (
        "packages_missing",
        True,
        True,
    )


def test_a_folder_whose_files_are_cut_off_or_lack_a_tensor_is_not_loaded(tiny: Tiny, tmp_path: Path) -> None:
    import torch
    from safetensors.torch import save_file

    spec = folder_with(tmp_path, SMALL)
    save_file({"model.norm.weight": torch.ones(64)}, str(tmp_path / "model.safetensors"), metadata={"format": "pt"})
    assert refused(tiny, spec).code == "missing_weights"
    (tmp_path / "model.safetensors").write_bytes(b"\x10")
    assert refused(tiny, spec).code == "broken_weights"


def test_pickles_are_refused(tiny: Tiny, tmp_path: Path) -> None:
    spec = folder_with(tmp_path, SMALL)
    (tmp_path / "pytorch_model.bin").write_bytes(b"")
    refusal = refused(tiny, spec)
    assert refusal.code == "load_failed"
    assert "pickles" in refusal.message


def test_a_model_with_its_own_code_is_refused_without_a_question(tiny: Tiny, tmp_path: Path) -> None:
    config = {"model_type": "house", "auto_map": {"AutoConfig": "house.Config", "AutoModelForCausalLM": "house.Model"}}
    assert refused(tiny, folder_with(tmp_path, config)).code == "needs_remote_code"


def test_an_unknown_architecture_is_refused(tiny: Tiny, tmp_path: Path) -> None:
    assert refused(tiny, folder_with(tmp_path, {"model_type": "no-such-model"})).code == "unknown_model_type"


def test_an_attention_kernel_is_never_fetched(tiny: Tiny, tmp_path: Path) -> None:
    assert refused(tiny, folder_with(tmp_path, SMALL), attention="kernels-community/flash-attn").code == "load_failed"


def test_a_class_without_sdpa_is_loaded_with_eager_attention_and_says_so(tiny: Tiny, tmp_path: Path) -> None:
    config = {"model_type": "gpt_oss", **TINY["gpt_oss"], "architectures": ["GptOssForCausalLM"]}
    loaded = load(tiny, folder_with(tmp_path, config))
    assert loaded["environment"]["attention"] == "eager"


def test_a_device_that_is_not_here_is_refused(tiny: Tiny, tmp_path: Path) -> None:
    assert "cuda:7" in refused(tiny, folder_with(tmp_path, SMALL), device="cuda:7").message


def test_weights_are_the_same_each_time(tiny: Tiny, tmp_path: Path) -> None:
    spec = folder_with(tmp_path, SMALL)
    first, second = load(tiny, spec), load(tiny, spec)
    assert first["weights_bytes"] == second["weights_bytes"]
    assert first["environment"]["config_hash"] == second["environment"]["config_hash"]


def test_the_environment_says_what_a_figure_depends_on(tiny: Tiny, tmp_path: Path) -> None:
    environment = load(tiny, folder_with(tmp_path, SMALL))["environment"]
    told = {"python", "torch", "transformers", "platform", "kernel", "cpu", "cores", "threads", "device", "dtype"}
    assert told | {"attention", "model_revision", "config_hash"} <= set(environment)
