"""What may be kept and shown: no folders of the machine, nothing that a database cannot hold."""

import math
import re
from collections.abc import Mapping
from typing import Any

WORDS = frozenset({"message", "hint", "reason", "error"})
ABSOLUTE_PATH = re.compile(r"(?<![\w.:/~-])(?:/[\w.@+~-]+)+/([\w.@+~-]+)/?")


def without_paths(text: str) -> str:
    """`/srv/models/llama/config.json` becomes `…/config.json`; an address of the web stays."""
    return ABSOLUTE_PATH.sub(r"…/\1", text)


def presentable(data: Any, *, words: bool = False) -> Any:
    """The same data without NUL characters and numbers that JSON lacks; its sentences without absolute paths."""
    if isinstance(data, Mapping):
        return {str(key): presentable(value, words=words or key in WORDS) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [presentable(value, words=words) for value in data]
    if isinstance(data, str):
        text = data.replace("\x00", "")
        return without_paths(text) if words else text
    if isinstance(data, float) and not math.isfinite(data):
        return None
    return data
