"""Which model is meant, in a form that a process can be handed."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any


class ModelKind(StrEnum):
    ARCHITECTURE = "architecture"  # a built-in config, random weights
    FOLDER = "folder"  # a local folder with config.json; with or without weights
    HUB = "hub"  # org/name at a revision


@dataclass(frozen=True, kw_only=True)
class ModelSpec:
    """`config` is the full config of a built-in architecture; `path` the resolved folder of a local model.

    gguf_file: the name of the file in that folder, where the model is one GGUF file.
    """

    kind: ModelKind
    name: str
    revision: str | None = None
    path: str | None = None
    gguf_file: str | None = None
    config: Mapping[str, Any] | None = None
    random_weights: bool = False

    def as_json(self) -> dict[str, Any]:
        return asdict(self) | {"kind": str(self.kind)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "ModelSpec":
        return cls(
            kind=ModelKind(data["kind"]),
            name=data["name"],
            revision=data.get("revision"),
            path=data.get("path"),
            gguf_file=data.get("gguf_file"),
            config=data.get("config"),
            random_weights=bool(data.get("random_weights", False)),
        )
