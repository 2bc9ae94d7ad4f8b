"""Built-in architectures: real configs, transcribed, that can be sized and measured without a download."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from jobs.sizing.refusal import Refusal


@dataclass(frozen=True, kw_only=True)
class Architecture:
    """parameters: tied weights once. native_context: tokens, None where the config sets no maximum."""

    name: str
    title: str
    parameters: int
    native_context: int | None
    note: str


def names() -> tuple[str, ...]:
    """In the order in which they are offered."""
    return tuple(_table())


def find(text: str) -> str | None:
    """The name as it is spelled here, whatever the case of `text`; None where there is none."""
    return next((name for name in _table() if name.casefold() == text.strip().casefold()), None)


def get(name: str) -> Architecture:
    """Raises Refusal("unknown_model")."""
    spelled, row = _row(name)
    return Architecture(
        name=spelled,
        title=f"{spelled}: architecture only (random weights)",
        parameters=row["parameters"],
        native_context=row.get("native_context"),
        note=row["note"],
    )


def config(name: str) -> dict[str, Any]:
    """The config as transformers' class for its `model_type` takes it; raises Refusal("unknown_model")."""
    _, row = _row(name)
    return _copied(row["config"])


def _row(name: str) -> tuple[str, Mapping[str, Any]]:
    spelled = find(name)
    if spelled is None:
        raise Refusal(
            "unknown_model",
            f"“{name[:80]}” is no built-in architecture.",
            f"Choose one of {', '.join(names())}.",
        )
    return spelled, _table()[spelled]


@cache
def _table() -> Mapping[str, Mapping[str, Any]]:
    return tomllib.loads(files("jobs.sizing").joinpath("architectures.toml").read_text(encoding="utf-8"))


def _copied(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _copied(value) if isinstance(value, Mapping) else value for name, value in fields.items()}
