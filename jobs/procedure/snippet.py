"""The settings to paste into transformers' generate()."""

import json
from typing import Any

from jobs.procedure.several_cards import PLACEMENT, WEIGHTS_PART, card_names, is_spread
from jobs.sizing.stored import AS_STORED, ON_THE_FLY
from jobs.sizing.strategy import GROUP_ELEMENTS, QUANTIZED_AXIS, RESIDUAL_TOKENS, CacheKind, Strategy

TORCH_DTYPES = {"bfloat16": "torch.bfloat16", "float16": "torch.float16", "float32": "torch.float32"}


def generate_settings(strategy: Strategy, answer_tokens: int) -> dict[str, Any]:
    """Keyword arguments of generate() beside the inputs; the answer's length and the cache alone."""
    settings: dict[str, Any] = {"max_new_tokens": answer_tokens, "cache_implementation": _implementation(strategy)}
    if strategy.is_quantized:
        settings["cache_config"] = _cache_config(strategy)
    if strategy.chunk_tokens is not None:
        settings["prefill_chunk_size"] = strategy.chunk_tokens
    if strategy.cache in (CacheKind.STATIC, CacheKind.OFFLOADED_STATIC):
        settings["disable_compile"] = True  # as measured: compiling needs memory of its own
    return settings


def snippet(
    strategy: Strategy,
    *,
    model: str,
    answer_tokens: int,
    dtype: str,
    attention: str,
    device: str,
    random_weights: bool,
    gguf_file: str | None = None,
    weights: str = AS_STORED,
) -> str:
    """Python that loads the model and answers with these settings. gguf_file: its file, by which the model is named or
    which lies in the folder so named. weights: "as-stored", or packed while they are loaded ("bnb4", "bnb8").
    """
    settings = generate_settings(strategy, answer_tokens)
    arguments = "".join(f"    {name}={_literal(value)},\n" for name, value in settings.items())
    yours = "  # measured as an architecture only: name your own model here" if random_weights else ""
    name = model if gguf_file is None else model.removesuffix(gguf_file).removesuffix("/") or "."
    file = "" if gguf_file is None else f", gguf_file={json.dumps(gguf_file)}"
    packing = _packing(weights, dtype) if gguf_file is None else "GgufConfig(dequantize=True)"
    packed = f",\n    quantization_config={packing}" if packing else ""
    placed, on_device = _placement(weights, device)
    return (
        "import torch\n"
        f"from transformers import AutoModelForCausalLM, AutoTokenizer{_import_of(packing)}\n"
        "\n"
        f"name = {json.dumps(name)}{yours}\n"
        f"tokenizer = AutoTokenizer.from_pretrained(name{file})\n"
        "model = AutoModelForCausalLM.from_pretrained(\n"
        f"    name{file}, dtype={TORCH_DTYPES.get(dtype, json.dumps(dtype))}, "
        f"attn_implementation={json.dumps(attention)}{packed}{placed}\n"
        f"){on_device}\n"
        f'inputs = tokenizer(prompt, return_tensors="pt").to({json.dumps(card_names(device)[0])})\n'
        "output = model.generate(\n"
        "    **inputs,\n"
        f"{arguments}"
        ")\n"
    )


def _placement(weights: str, device: str) -> tuple[str, str]:
    """What from_pretrained is given to put the model where it was measured, and what moves it there afterwards."""
    if is_spread(device):
        numbers = ", ".join(name.removeprefix("cuda:") for name in card_names(device))
        room = f"{{card: int({WEIGHTS_PART} * torch.cuda.mem_get_info(card)[0]) for card in ({numbers})}}"
        return f',\n    device_map="{PLACEMENT}", max_memory={room}', ""
    if weights != AS_STORED:  # packed on the device itself, and not to be moved
        return f',\n    device_map={{"": {json.dumps(device)}}}', ""
    return "", f".to({json.dumps(device)})"


def _packing(weights: str, dtype: str) -> str:
    """transformers' configuration that packs the weights while they are loaded; empty for weights as stored."""
    if weights == AS_STORED:
        return ""
    options = [f"{name}={_literal(value)}" for name, value in ON_THE_FLY[weights].items()]
    computed = [f"bnb_4bit_compute_dtype={TORCH_DTYPES[dtype]}"] if weights == "bnb4" else []
    return f"BitsAndBytesConfig({', '.join(options + computed)})"


def _import_of(packing: str) -> str:
    return f", {packing.partition('(')[0]}" if packing else ""


def _implementation(strategy: Strategy) -> str:
    return "dynamic" if strategy.cache is CacheKind.DEFAULT else str(strategy.cache)


def _cache_config(strategy: Strategy) -> dict[str, Any]:
    """fp8 takes none of the group-wise options."""
    if strategy.backend not in QUANTIZED_AXIS:
        return {"backend": strategy.backend}
    axis = QUANTIZED_AXIS[strategy.backend]
    return {
        "backend": strategy.backend,
        "nbits": strategy.bits,
        "axis_key": axis,
        "axis_value": axis,
        "q_group_size": GROUP_ELEMENTS,
        "residual_length": RESIDUAL_TOKENS,
    }


def _literal(value: object) -> str:
    """As Python; a dict on lines of its own."""
    if isinstance(value, bool):
        return str(value)
    return json.dumps(value, indent=4).replace("\n", "\n    ")
