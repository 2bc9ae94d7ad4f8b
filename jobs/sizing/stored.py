"""How a model's weights are stored, as an answer and as a sentence."""

from collections.abc import Mapping
from typing import Any

from jobs.sizing.budgets import weights_bytes
from jobs.sizing.record import InspectionRecord
from jobs.sizing.units import bytes_text


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
    """Whether a run on this device ("cpu", "cuda:0") holds the weights as they are stored: not where it draws them."""
    unpacked_on = record.stored.unpacked_on if record.stored else ()
    return not record.random_weights and device.partition(":")[0] not in unpacked_on


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
    if stored["dequantized"]:
        return f"{packed}, turned into {dtype} when loaded"
    where = " and ".join(stored["unpacked_on"])
    return f"{packed}, {bytes_text(stored['unpacked_bytes'])} unpacked{f' (as on {where})' if where else ''}"
