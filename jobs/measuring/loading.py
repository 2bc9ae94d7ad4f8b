"""A model from its spec: real weights from safetensors or GGUF, or an architecture's with random ones; packed while
they are loaded, where that is asked for."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import torch
from transformers import AutoConfig, AutoModelForCausalLM, GenerationConfig

from jobs.measuring.hub_files import kept_snapshot
from jobs.measuring.library_errors import LIBRARY_ERRORS
from jobs.measuring.load_refusals import load_refusal
from jobs.measuring.packed_weights import packed_from, packing_config, refuse_unloadable, settle_packed
from jobs.measuring.pretrained import place_of, source_of
from jobs.measuring.random_weights import SEED, RepeatedDraws
from jobs.measuring.spread import first_of, placement, refuse_leftover, refuse_packing, spread_over
from jobs.measuring.stored_headers import folder_tensors, missing_weights
from jobs.measuring.stored_weights import quantization_fields
from jobs.measuring.weight_source import draws_random_weights, has_pickles, has_safetensors
from jobs.measuring.weights import weights_bytes
from jobs.procedure.several_cards import is_spread
from jobs.sizing.model_spec import ModelKind, ModelSpec
from jobs.sizing.refusal import Refusal
from jobs.sizing.stored import AS_STORED
from jobs.sizing.units import dtype_bytes

DEFAULT_ATTENTION = "sdpa"
COMMIT = re.compile(r"[0-9a-f]{40}")
TRUSTED = {"trust_remote_code": False}


@dataclass(frozen=True, kw_only=True)
class LoadedModel:
    """A model in memory on its device, with what every measurement of it needs to know."""

    model: Any
    device: str
    dtype: str
    attention: str
    weights_bytes: int
    load_s: float
    random_weights: bool
    weights: str = AS_STORED


def load_model(
    spec: ModelSpec,
    *,
    dtype: str,
    device: str,
    attention: str,
    weights: str = AS_STORED,
    tell: Callable[[str], None],
) -> LoadedModel:
    """device: as torch calls it; over several cards ("cuda:0,cuda:1") whole layers are spread.
    weights: "as-stored", or "bnb4" or "bnb8": packed while they are loaded.

    Raises Refusal: needs_remote_code, load_failed, packages_missing, needs_gpu, gated, offline, … (docs/refusals.md).
    """
    refuse_foreign_attention(attention)
    dtype_bytes(dtype)
    started = perf_counter()
    try:
        random = uses_random_weights(spec)
        refuse_unloadable_model(spec, weights=weights, device=device)
        tell("Drawing random weights." if random else "Loading the weights.")
        packing = packing_config(weights, dtype)
        model = (_random if random else _stored)(spec, packing, dtype=dtype, device=device, attention=attention)
        settle_packed(model)
    except LIBRARY_ERRORS as error:
        raise load_refusal(error, spec) from error
    # Parameters keep requires_grad, as from_pretrained leaves it: without it torch multiplies the last position with a
    # copy of the whole output matrix (54 MiB for SmolLM2-135M in bfloat16), which a user's generate() does not.
    model.eval()
    # What the model's authors set for sampling is no part of a measurement.
    model.generation_config = GenerationConfig()
    return LoadedModel(
        model=model,
        device=first_of(device),
        dtype=dtype,
        attention=str(model.config.get_text_config(decoder=True)._attn_implementation or attention),
        weights_bytes=weights_bytes(model),
        load_s=perf_counter() - started,
        random_weights=random,
        weights=weights,
    )


def refuse_unloadable_model(spec: ModelSpec, *, weights: str, device: str) -> None:
    """Raises Refusal where its config alone tells that its weights cannot be loaded so on this device."""
    config = None if spec.gguf_file else read_config(spec)
    refuse_unloadable(config, spec, weights=weights, device=first_of(device))


def read_config(spec: ModelSpec) -> Any:
    """The model's configuration as its native class; never its own code."""
    if spec.config is not None:
        fields = dict(spec.config)
        return AutoConfig.for_model(fields.pop("model_type"), **fields)
    return AutoConfig.from_pretrained(place_of(spec), **_source(spec), **TRUSTED)


def uses_random_weights(spec: ModelSpec) -> bool:
    """As `draws_random_weights`; raises Refusal for weights that are not loaded."""
    if spec.kind is ModelKind.FOLDER and not spec.gguf_file and not has_safetensors(spec) and has_pickles(spec):
        raise Refusal(
            "load_failed",
            f"“{spec.name}” holds its weights as pickles, which can run code when they are read.",
            "Convert them to safetensors (save_pretrained does) and choose the model again.",
        )
    return draws_random_weights(spec)


def refuse_foreign_attention(attention: str) -> None:
    """Raises Refusal for a name by which transformers would fetch a kernel."""
    if "/" in attention:
        raise Refusal(
            "load_failed",
            f"“{attention[:60]}” names an attention kernel to be downloaded, which is not done here.",
            "Use sdpa, eager or flash_attention_2.",
        )


def _random(spec: ModelSpec, packing: Any, *, dtype: str, device: str, attention: str) -> Any:
    """Weights that are to be packed or spread are drawn in CPU RAM: no device need hold them all unpacked."""
    refuse_packing(packing, device)
    config = read_config(spec)
    torch.manual_seed(SEED)
    with torch.device("cpu" if packing or is_spread(device) else device), RepeatedDraws():
        model = AutoModelForCausalLM.from_config(config, dtype=getattr(torch, dtype), **_kernel(attention), **TRUSTED)
    if packing:
        return packed_from(model, packing, dtype=dtype, device=device, **_kernel(attention))
    return spread_over(model, device) if is_spread(device) else model.to(device)


def _stored(spec: ModelSpec, packing: Any, *, dtype: str, device: str, attention: str) -> Any:
    """Files are looked over first: what they lack, from_pretrained would draw at random."""
    if spec.kind is ModelKind.FOLDER and not spec.gguf_file:
        folder_tensors(spec.name, Path(spec.path or ""))
    where = _placed(spec, packing, device)
    model, told = AutoModelForCausalLM.from_pretrained(
        place_of(spec),
        **_source(spec),
        **TRUSTED,
        use_safetensors=True,
        dtype=getattr(torch, dtype),
        **_kernel(attention),
        **({"quantization_config": packing} if packing else {}),
        **where,
        output_loading_info=True,
    )
    if told["missing_keys"]:
        raise missing_weights(spec.name, sorted(told["missing_keys"]))
    refuse_leftover(getattr(model, "hf_device_map", None) or {})
    return model if where else model.to(device)


def _placed(spec: ModelSpec, packing: Any, device: str) -> dict[str, Any]:
    """Where from_pretrained puts the weights; empty where they are moved afterwards, which packed ones may not be."""
    packed = packing or (device != "cpu" and not spec.gguf_file and quantization_fields(read_config(spec)))
    return placement(device) or ({"device_map": {"": device}} if packed else {})


def _kernel(attention: str) -> dict[str, str]:
    """SDPA is the default, and asked for by no name: some classes (Gemma 2, GPT-OSS, BLOOM) then take eager attention
    instead of refusing."""
    return {} if attention == DEFAULT_ATTENTION else {"attn_implementation": attention}


def _source(spec: ModelSpec) -> dict[str, Any]:
    if not spec.gguf_file:
        return source_of(spec, is_fetched=spec.kind is ModelKind.HUB and _is_fetched(spec))
    from transformers import GgufConfig  # which older ones lack, and measure other weights without it

    # Else transformers would look for kernels to download.
    return source_of(spec) | {"quantization_config": GgufConfig(dequantize=True)}


def _is_fetched(spec: ModelSpec) -> bool:
    """A commit stays what it is; a branch may have moved."""
    return bool(COMMIT.fullmatch(spec.revision or "")) and kept_snapshot(spec) is not None
