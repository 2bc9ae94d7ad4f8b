"""A model of the real size on the meta device: its own class, its own code, no memory."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForImageTextToText
from transformers.models.auto.configuration_auto import CONFIG_MAPPING
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING, MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING

from jobs.measuring.config_numbers import impossible
from jobs.measuring.hub_source import hub_config
from jobs.measuring.library_errors import LIBRARY_ERRORS
from jobs.measuring.stored_gguf import gguf_config
from jobs.sizing.model_spec import ModelKind, ModelSpec
from jobs.sizing.refusal import Refusal

LAYER_COUNT = re.compile(r"(^|_)layers?$")
IMAGE_INPUT = "pixel_values"
NO_ATTENTION = "can only be called on Attention layers"
MOST_LAYERS = 1024  # the deepest models have some hundreds


def config_fields(spec: ModelSpec) -> dict[str, Any]:
    """The content of the model's config.json; raises Refusal (no_config, broken_config, offline, gated, …)."""
    if spec.config is not None:
        return dict(spec.config)
    if spec.gguf_file:
        return dict(gguf_config(spec).to_dict())
    path = hub_config(spec) if spec.kind is ModelKind.HUB else Path(spec.path or "") / "config.json"
    try:
        fields = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise Refusal("no_config", f"“{spec.name}” has no config.json.", "Choose a model's folder.") from error
    except (OSError, ValueError, RecursionError) as error:
        raise broken(spec, "its config.json cannot be read as JSON") from error
    if not isinstance(fields, dict):
        raise broken(spec, "its config.json is not an object")
    return fields


def build_config(spec: ModelSpec, fields: Mapping[str, Any]) -> Any:
    """The config as the class that transformers itself has for it, never by code that comes with the model."""
    model_type = fields.get("model_type")
    if not isinstance(model_type, str):
        raise broken(spec, "its config.json names no model_type")
    if model_type not in CONFIG_MAPPING:
        raise _foreign(spec, model_type, fields)
    if (why := impossible(fields)) is not None:
        raise broken(spec, why)
    if _most_layers(fields) > MOST_LAYERS:
        raise broken(spec, f"it asks for {_most_layers(fields):,} layers")
    try:
        if spec.kind is ModelKind.FOLDER and spec.path and not spec.gguf_file:
            config = AutoConfig.from_pretrained(spec.path, trust_remote_code=False, local_files_only=True)
        else:
            config = CONFIG_MAPPING[model_type].from_dict(dict(fields))
    except LIBRARY_ERRORS as error:
        raise broken(spec, first_line(error)) from error
    config._attn_implementation = None  # the asker's choice, not the file's, which may name a kernel to download
    if type(config) not in MODEL_FOR_CAUSAL_LM_MAPPING and type(config) not in MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING:
        raise Refusal(
            "unknown_model_type",
            f"“{spec.name}” is of type {model_type}, which writes no text.",
            "Choose a causal language model.",
        )
    return config


def _most_layers(fields: Mapping[str, Any]) -> int:
    """The largest number of layers that the config or one nested in it asks for: building takes memory for each."""
    nested = [_most_layers(value) for value in fields.values() if isinstance(value, dict)]
    named = [value for name, value in fields.items() if LAYER_COUNT.search(str(name)) and isinstance(value, int)]
    return int(max([0, *named, *nested]))


def build_model(spec: ModelSpec, config: Any, *, dtype: torch.dtype, attention: str) -> Any:
    """The model in evaluation mode on meta; raises Refusal("broken_config")."""
    causal = type(config) in MODEL_FOR_CAUSAL_LM_MAPPING
    auto = AutoModelForCausalLM if causal else AutoModelForImageTextToText
    try:
        with torch.device("meta"):
            return _from_config(auto, config, dtype, attention).eval()
    except LIBRARY_ERRORS as error:
        raise broken(spec, first_line(error)) from error


def _from_config(auto: Any, config: Any, dtype: torch.dtype, attention: str) -> Any:
    if attention == "sdpa":
        # The default: SDPA where the class has it, else eager, as when the model is loaded.
        return auto.from_config(config, dtype=dtype, trust_remote_code=False)
    return auto.from_config(config, dtype=dtype, trust_remote_code=False, attn_implementation=attention)


def broken(spec: ModelSpec, why: str) -> Refusal:
    return Refusal(
        "broken_config",
        f"“{spec.name}” cannot be built: {why.rstrip(' .:')}.",
        "Check that its config.json is complete and made for this transformers.",
    )


def own_code_fails(spec: ModelSpec, error: Exception) -> Refusal:
    """Why a model that was built does not run: it waits for more than text, or its config does not hold together."""
    if IMAGE_INPUT in str(error):
        return Refusal(
            "unknown_model_type",
            f"“{spec.name}” answers to images only, not to text alone ({first_line(error)}).",
            "Choose a causal language model.",
        )
    if NO_ATTENTION in str(error):
        return Refusal(
            "no_cache",
            f"“{spec.name}” does not run with a cache: its class asks for an attention layer and it has none.",
            "Name its attention layers in its config, or choose another model.",
        )
    return broken(spec, f"its own code fails on it ({type(error).__name__}: {first_line(error)})")


def _foreign(spec: ModelSpec, model_type: str, fields: Mapping[str, Any]) -> Refusal:
    if "auto_map" in fields:
        return Refusal(
            "needs_remote_code",
            f"“{spec.name}” (model type {model_type}) runs on code that comes with it, which is not run here.",
            "Choose a model that transformers itself implements.",
        )
    return Refusal(
        "unknown_model_type",
        f"This transformers does not know the model type {model_type} of “{spec.name}”.",
        "Upgrade transformers on the worker, or choose another model.",
    )


def first_line(error: BaseException) -> str:
    """The first line that says something: a heading (“… for validator 'x':”) leaves that to the next."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
    text = lines[1] if lines[0].endswith(":") and len(lines) > 1 else lines[0]
    return text[:200].rstrip(".")
