"""Whether a model comes with weights that can be loaded."""

from pathlib import Path

from jobs.sizing.model_spec import ModelKind, ModelSpec

PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt")


def draws_random_weights(spec: ModelSpec) -> bool:
    """An architecture, or a folder that holds no weights of any kind: they are drawn, in the compute precision."""
    if spec.random_weights or spec.kind is ModelKind.ARCHITECTURE:
        return True
    if spec.kind is ModelKind.HUB or spec.gguf_file:
        return False
    return not has_safetensors(spec) and not has_pickles(spec)


def has_safetensors(spec: ModelSpec) -> bool:
    return _holds(spec, "*.safetensors") or _holds(spec, "*.safetensors.index.json")


def has_pickles(spec: ModelSpec) -> bool:
    return any(_holds(spec, pattern) for pattern in PICKLES)


def _holds(spec: ModelSpec, pattern: str) -> bool:
    return any(Path(spec.path or "").glob(pattern))
