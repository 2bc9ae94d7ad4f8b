"""What may leave the portal in a shared answer: figures, known words, versions. Everything else is left out."""

import math
import re
from collections.abc import Collection, Mapping
from pathlib import PurePath
from typing import Any

from jobs.sizing.model_spec import ModelKind
from jobs.sizing.refusal import Refusal
from jobs.sizing.strategy import Strategy

VERSION = re.compile(r"[0-9A-Za-z][\w.+!-]{0,59}", re.ASCII)
REVISION = re.compile(r"[\w.-]{1,120}", re.ASCII)
TECHNICAL = re.compile(r"[\w-]{1,40}", re.ASCII)
DEVICE = re.compile(r"cpu|cuda(:\d{1,2}(,cuda:\d{1,2})*)?", re.ASCII)
MOST_NAME_CHARACTERS = 120
LIBRARIES = (
    "transformers",
    "torch",
    "python",
    "accelerate",
    "hqq",
    "optimum-quanto",
    "bitsandbytes",
    "gptqmodel",
    "compressed-tensors",
    "safetensors",
    "tokenizers",
    "cuda",
    "driver",
)


def figure(value: Any) -> int | float | None:
    """A finite number, None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return value


def figures(given: Any, names: Collection[str]) -> dict[str, int | float | None]:
    """Of a mapping; all None where there is none."""
    found = given if isinstance(given, Mapping) else {}
    return {name: figure(found.get(name)) for name in names}


def word(value: Any, known: Collection[str]) -> str:
    """One of the known words, empty for anything else."""
    return value if isinstance(value, str) and value in known else ""


def matching(value: Any, pattern: re.Pattern[str]) -> str:
    return value if isinstance(value, str) and pattern.fullmatch(value) else ""


def strategy_named(value: Any) -> str:
    """A strategy's name, empty for anything else."""
    try:
        return str(Strategy.parse(value)) if isinstance(value, str) else ""
    except Refusal:
        return ""


def plain(value: Any) -> str:
    """A name that was found out, of a device: on one line, and bounded."""
    text = "".join(character for character in str(value or "") if character.isprintable())
    return text.strip()[:MOST_NAME_CHARACTERS]


def model_named(kind: str, name: str) -> str:
    """Of a model in a folder the folder's own name: where it lies is nobody's business."""
    return plain(PurePath(name.replace("\\", "/")).name if kind == ModelKind.FOLDER else name) or "a local model"


def versions_of(environment: Mapping[str, Any]) -> dict[str, str]:
    """Library -> version, the most telling first."""
    nested = environment.get("versions")
    given = {**environment, **(nested if isinstance(nested, Mapping) else {})}
    found = {name: matching(given.get(name), VERSION) for name in LIBRARIES}
    return {name: version for name, version in found.items() if version}
