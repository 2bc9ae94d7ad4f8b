"""What safetensors files hold, told by their headers: 8 bytes of length and a JSON of names, shapes and offsets."""

import json
import math
import struct
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jobs.sizing.refusal import Refusal

SINGLE_FILE = "model.safetensors"
INDEX_FILE = "model.safetensors.index.json"
MOST_DIMENSIONS, MOST_NUMBER = 16, 2**62
LEAST_BITS = {
    **dict.fromkeys(("BOOL", "U8", "I8", "F8_E4M3", "F8_E5M2", "F8_E8M0", "F8_E4M3FNUZ", "F8_E5M2FNUZ"), 8),
    **dict.fromkeys(("U16", "I16", "F16", "BF16"), 16),
    **dict.fromkeys(("U32", "I32", "F32"), 32),
    **dict.fromkeys(("U64", "I64", "F64", "C64"), 64),
    "F4": 4,
    "F6_E2M3": 6,
    "F6_E3M2": 6,
}
"""Of one element, by the names that safetensors gives its precisions."""
LENGTH_BYTES = 8
MOST_HEADER_BYTES = 100_000_000  # the safetensors library takes no longer one either
MOST_INDEX_BYTES = 2**26  # the largest known takes an eighth of it
DOWNLOAD_AGAIN = "Download the model again; an interrupted download can be taken up where it ended."


@dataclass(frozen=True, kw_only=True)
class FileTensor:
    name: str
    elements: int
    stored_bytes: int


def folder_tensors(name: str, folder: Path) -> tuple[FileTensor, ...] | None:
    """Every tensor in the files that transformers would load from the folder; None where it holds no safetensors.

    Raises Refusal: missing_weights (a file or a tensor that the index names), broken_weights (cut off, no safetensors).
    """
    if (folder / SINGLE_FILE).is_file():
        return tuple(_file_tensors(name, folder / SINGLE_FILE).values())
    if (folder / INDEX_FILE).is_file():
        return _indexed(name, folder)
    loose = sorted(path.name for path in folder.glob("*.safetensors"))
    if loose:
        raise Refusal(
            "missing_weights",
            f"“{name}” holds {loose[0]} but neither {SINGLE_FILE} nor {INDEX_FILE}, by which weights are found.",
            DOWNLOAD_AGAIN,
        )
    return None


def _indexed(name: str, folder: Path) -> tuple[FileTensor, ...]:
    weight_map = _weight_map(name, folder / INDEX_FILE)
    there = {path.name for path in folder.iterdir() if path.is_file()}
    files = weight_files(name, folder / INDEX_FILE, there=there)
    found = {file: _file_tensors(name, folder / file) for file in files}
    absent = [tensor for tensor, file in weight_map.items() if tensor not in found[file]]
    if absent:
        raise missing_weights(name, absent)
    return tuple(found[file][tensor] for tensor, file in weight_map.items())


def weight_files(name: str, index: Path, *, there: Container[str]) -> tuple[str, ...]:
    """The files that the index names, in order; raises Refusal: missing_weights (not `there`), broken_weights."""
    files = tuple(sorted(set(_weight_map(name, index).values())))
    missing = [file for file in files if file not in there]
    if missing:
        raise Refusal(
            "missing_weights",
            f"“{name}” lacks {_some(missing)}, of {len(files)} files that its {INDEX_FILE} names.",
            DOWNLOAD_AGAIN,
        )
    return files


def _weight_map(name: str, path: Path) -> dict[str, str]:
    """Tensor name -> name of a file beside the index."""
    with path.open("rb") as file:
        raw = file.read(MOST_INDEX_BYTES)
    index = _json_object(raw, lambda why: broken_weights(name, path.name, why))
    weight_map = index.get("weight_map")
    if not isinstance(weight_map, dict) or not weight_map:
        raise broken_weights(name, path.name, "it maps no weights")
    for file_name in weight_map.values():
        if not isinstance(file_name, str) or Path(file_name).name != file_name:
            raise broken_weights(name, path.name, "it names a file that is not beside it")
    return weight_map


def _file_tensors(name: str, path: Path) -> dict[str, FileTensor]:
    file_bytes = path.stat().st_size
    with path.open("rb") as file:
        start = file.read(LENGTH_BYTES)
        if len(start) < LENGTH_BYTES:
            raise broken_weights(name, path.name, f"it ends after {file_bytes} bytes")
        (header_bytes,) = struct.unpack("<Q", start)
        if header_bytes > MOST_HEADER_BYTES:
            raise broken_weights(name, path.name, "it does not begin as safetensors do")
        raw = file.read(header_bytes)
    if len(raw) < header_bytes:
        raise broken_weights(name, path.name, f"it ends within its header, after {file_bytes:,} bytes")
    rows = _json_object(raw, lambda why: broken_weights(name, path.name, why))
    rows.pop("__metadata__", None)
    try:
        tensors = {tensor: _tensor(tensor, row) for tensor, row in rows.items()}
        ends = [int(row["data_offsets"][1]) for row in rows.values()]
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        raise broken_weights(name, path.name, "its header is not one of safetensors") from error
    whole_bytes = LENGTH_BYTES + header_bytes + max(ends, default=0)
    if file_bytes < whole_bytes:
        raise broken_weights(name, path.name, f"it ends after {file_bytes:,} of its {whole_bytes:,} bytes")
    return tensors


def _tensor(name: str, row: Mapping[str, Any]) -> FileTensor:
    begin, end = row["data_offsets"]
    shape = row["shape"]
    whole = all(isinstance(number, int) and 0 <= number < MOST_NUMBER for number in (*shape, begin, end))
    if not whole or len(shape) > MOST_DIMENSIONS or begin > end:
        raise ValueError(name)
    elements = math.prod(shape)
    least_bits = LEAST_BITS.get(str(row["dtype"]))
    if least_bits is None or elements * least_bits > 8 * (end - begin):
        raise ValueError(name)
    return FileTensor(name=name, elements=elements, stored_bytes=end - begin)


def _json_object(raw: bytes, refusal: Callable[[str], Refusal]) -> dict[str, Any]:
    try:
        fields = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise refusal("it cannot be read as JSON") from error
    if not isinstance(fields, dict):
        raise refusal("it is not an object")
    return fields


def broken_weights(name: str, file_name: str, why: str) -> Refusal:
    return Refusal("broken_weights", f"{file_name} of “{name}” is broken: {why}.", DOWNLOAD_AGAIN)


def missing_weights(name: str, tensors: Sequence[str]) -> Refusal:
    return Refusal("missing_weights", f"The files of “{name}” lack the weights {_some(tensors)}.", DOWNLOAD_AGAIN)


def file_bytes(tensors: Iterable[FileTensor]) -> int:
    return sum(tensor.stored_bytes for tensor in tensors)


def _some(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"
