"""Where transformers' from_pretrained finds what a spec names, and whether it may ask a network for it."""

from typing import Any

from jobs.measuring.hub_source import hub_is_reachable
from jobs.measuring.stored_gguf import whole_gguf
from jobs.sizing.model_spec import ModelKind, ModelSpec


def place_of(spec: ModelSpec) -> str:
    """The folder, or the Hub's name of it."""
    return spec.path if spec.kind is ModelKind.FOLDER and spec.path else spec.name


def source_of(spec: ModelSpec, *, is_fetched: bool = False) -> dict[str, Any]:
    """The arguments beside the place. is_fetched: everything asked for is here, so that no network need be asked."""
    if spec.gguf_file:
        return {"local_files_only": True, "gguf_file": whole_gguf(spec)}
    if spec.kind is ModelKind.FOLDER:
        return {"local_files_only": True}
    return {"revision": spec.revision or "main", "local_files_only": is_fetched or not hub_is_reachable()}
