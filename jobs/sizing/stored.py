"""How a model's weights are stored, as an answer and as a sentence; and packed while they are loaded, where asked."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from jobs.sizing.budgets import weights_bytes
from jobs.sizing.record import ON_THE_FLY_SOURCE, InspectionRecord
from jobs.sizing.refusal import Refusal
from jobs.sizing.units import bytes_text

AS_STORED = "as-stored"
ON_THE_FLY: Mapping[str, Mapping[str, Any]] = {
    "bnb4": {"load_in_4bit": True, "bnb_4bit_quant_type": "nf4"},
    "bnb8": {"load_in_8bit": True},
}
"""Name -> arguments of transformers' BitsAndBytesConfig; 4 bits compute in the compute precision besides."""
WEIGHTS = (AS_STORED, *ON_THE_FLY)
PACKED_WORDS = {"bnb4": "4 bits (bitsandbytes)", "bnb8": "8 bits (bitsandbytes)"}
"""What a page says of each."""
GGUF = "gguf"


def with_weights(record: InspectionRecord, weights: str) -> InspectionRecord:
    """The record of the model with its weights so ("as-stored", "bnb4", "bnb8"); raises Refusal("bad_weights")."""
    if weights == AS_STORED:
        return record
    if weights not in record.on_the_fly:
        packed = "are packed already" if record.stored else "cannot be packed so"
        raise Refusal(
            "bad_weights",
            f"The weights of “{record.model}” {packed}{f', as {record.stored.method}' if record.stored else ''}; "
            "bitsandbytes packs plain ones while they are loaded.",
            "Take the weights as they are stored.",
        )
    return replace(record, stored=record.on_the_fly[weights])


def stored_json(record: InspectionRecord, dtype: str) -> dict[str, Any] | None:
    """None where the weights are plain floats. unpacked_bytes: all of them in the compute precision `dtype`."""
    stored = record.stored
    if stored is None:
        return None
    return {
        "method": stored.method,
        "bits": stored.bits,
        "source": stored.source,
        "file_bytes": stored.file_bytes,
        "dequantized": stored.dequantized,
        "unpacked_on": list(stored.unpacked_on),
        "unpacked_bytes": weights_bytes(record, dtype, as_stored=False),
    }


def stays_packed(record: InspectionRecord, device: str) -> bool:
    """Whether a run on this device ("cpu", "cuda:0") holds the weights as they are stored: not where it draws them,
    unless they are packed once drawn."""
    if record.stored is not None and record.stored.source == ON_THE_FLY_SOURCE:
        return True
    unpacked_on = record.stored.unpacked_on if record.stored else ()
    return not record.random_weights and device.partition(":")[0] not in unpacked_on


def dequantized_words(dtype: str) -> str:
    """What becomes of a GGUF file's weights in transformers, which other programs keep packed."""
    return f"dequantized to {dtype} when loaded: not your llama.cpp's memory"


def stored_sentence(stored: Mapping[str, Any], dtype: str) -> str:
    """What `stored_json` says: how the weights are packed, and that the cache is not packed with them."""
    return f"{_packed(stored, dtype)}; the KV cache stays in {dtype}"


def _packed(stored: Mapping[str, Any], dtype: str) -> str:
    method, bits, file_bytes = stored["method"], stored["bits"], stored["file_bytes"]
    files = "" if file_bytes is None else f" ({bytes_text(file_bytes)} in the files)"
    if bits is None:
        shown = f"weights are shown in {dtype}" if file_bytes is None else "weights are shown as in the files"
        return f"{method}{files}: the packed size is not known: {shown}"
    packed = f"{method}, {bits} bits{files}"
    if stored["dequantized"] and method == GGUF:
        return f"{packed}, {dequantized_words(dtype)}"
    if stored["dequantized"]:
        return f"{packed}, turned into {dtype} when loaded"
    where = " and ".join(stored["unpacked_on"])
    return f"{packed}, {bytes_text(stored['unpacked_bytes'])} unpacked{f' (as on {where})' if where else ''}"
