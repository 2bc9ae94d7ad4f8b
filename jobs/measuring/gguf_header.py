"""The head of a GGUF file: its metadata and its table of tensors, without reading any tensor.

The format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md (little-endian, versions 2 and 3).
"""

import math
import mmap
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gguf import GGML_QUANT_SIZES, GGMLQuantizationType

MAGIC = b"GGUF"
VERSIONS = (2, 3)
STRING, ARRAY = 8, 9
NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
MOST_DIMENSIONS = 8
MOST_ENTRIES = 2**20  # the largest models have some thousands of tensors
ALIGNMENT_BYTES = 32  # where the metadata sets none


class NoGguf(ValueError):
    """The file is none, is cut off, or is of a version that is not read."""


@dataclass(frozen=True, kw_only=True)
class GgufTensor:
    """packing: the name that GGUF gives the way its elements are stored: F32, BF16, Q8_0, Q4_K, …"""

    name: str
    packing: str
    elements: int
    stored_bytes: int


@dataclass(frozen=True, kw_only=True)
class GgufHeader:
    """metadata without arrays."""

    metadata: Mapping[str, Any]
    tensors: tuple[GgufTensor, ...]


def read_gguf_header(path: Path) -> GgufHeader:
    """Raises NoGguf, or OSError where the file cannot be read."""
    if path.stat().st_size < len(MAGIC):
        raise NoGguf(f"it ends after {path.stat().st_size} bytes")
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as view:
        try:
            return _header(_Cursor(view))
        except struct.error as error:
            raise NoGguf(f"it ends within its header, after {len(view):,} bytes") from error
        except (KeyError, UnicodeDecodeError, OverflowError, RecursionError, TypeError, ArithmeticError) as error:
            raise NoGguf("its header is not one of GGUF") from error


@dataclass
class _Cursor:
    view: mmap.mmap
    at: int = field(default=0)

    def number(self, code: str) -> Any:
        (value,) = struct.unpack_from(f"<{code}", self.view, self.at)
        self.at += struct.calcsize(code)
        return value

    def skip(self, count: int) -> None:
        if count > len(self.view) - self.at:
            raise struct.error("past the end")
        self.at += count

    def text(self) -> str:
        start = self.at + 8
        self.skip(self.number("Q"))
        return bytes(self.view[start : self.at]).decode()


def _header(cursor: _Cursor) -> GgufHeader:
    cursor.skip(len(MAGIC))
    if cursor.view[: len(MAGIC)] != MAGIC:
        raise NoGguf("it does not begin as GGUF files do")
    version, tensors, pairs = (cursor.number(code) for code in ("I", "Q", "Q"))
    if version not in VERSIONS:
        raise NoGguf(f"it is of version {version}, which is not read")
    if max(tensors, pairs) > MOST_ENTRIES:
        raise NoGguf(f"it counts {max(tensors, pairs):,} entries")
    metadata: dict[str, Any] = {}
    for _ in range(pairs):
        key = cursor.text()
        value = _value(cursor, cursor.number("I"))
        if value is not None:
            metadata[key] = value
    rows = [_tensor(cursor) for _ in range(tensors)]
    alignment = int(metadata.get("general.alignment", ALIGNMENT_BYTES)) or ALIGNMENT_BYTES
    start = math.ceil(cursor.at / alignment) * alignment
    whole_bytes = max((start + offset + tensor.stored_bytes for tensor, offset in rows), default=start)
    if len(cursor.view) < whole_bytes:
        raise NoGguf(f"it ends after {len(cursor.view):,} of its {whole_bytes:,} bytes")
    return GgufHeader(metadata=metadata, tensors=tuple(tensor for tensor, _ in rows))


def _value(cursor: _Cursor, kind: int) -> Any:
    """A number or a string; arrays (vocabularies) are passed over."""
    if kind == STRING:
        return cursor.text()
    if kind != ARRAY:
        return cursor.number(NUMBERS[kind])
    inner, count = cursor.number("I"), cursor.number("Q")
    if inner in NUMBERS:
        cursor.skip(count * struct.calcsize(NUMBERS[inner]))
        return None
    for _ in range(count):
        if inner == STRING:
            cursor.skip(cursor.number("Q"))
        else:
            _value(cursor, inner)
    return None


def _tensor(cursor: _Cursor) -> tuple[GgufTensor, int]:
    """The tensor and where it begins behind the header."""
    name = cursor.text()
    dimensions = cursor.number("I")
    if dimensions > MOST_DIMENSIONS:
        raise NoGguf(f"a tensor of {dimensions:,} dimensions is none")
    elements = math.prod(cursor.number("Q") for _ in range(dimensions))
    kind, offset = cursor.number("I"), cursor.number("Q")
    try:
        packing = GGMLQuantizationType(kind)
    except ValueError as error:
        raise NoGguf(f"{name} is packed in a way (type {kind}) that this gguf does not know") from error
    block_elements, block_bytes = GGML_QUANT_SIZES[packing]
    stored_bytes = elements // block_elements * block_bytes
    return GgufTensor(name=name, packing=packing.name, elements=elements, stored_bytes=stored_bytes), int(offset)
