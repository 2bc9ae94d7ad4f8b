"""Records of inspections kept as files, so that a model is read once: the second answer needs no torch.

A file's name is a digest of all that the record came from: the config as it stands, the files that hold the weights,
the libraries, and the code that inspects. Whatever changes among them, the record is made anew.
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from huggingface_hub import try_to_load_from_cache
from huggingface_hub.errors import HFValidationError

from jobs.running.inspection_code import inspection_code
from jobs.running.libraries import library_versions
from jobs.sizing.coverage import covers, together
from jobs.sizing.model_spec import ModelKind, ModelSpec
from jobs.sizing.record import InspectionRecord
from jobs.sizing.strategy import Strategy

WEIGHTS = ("*.safetensors", "*.safetensors.index.json", "*.gguf", "*.bin", "*.pt", "*.pth", "*.ckpt")


class KeptRecords:
    """In `folder`, made when the first record is kept. `python` is the one that measures."""

    def __init__(self, folder: Path, *, python: str) -> None:
        self._folder = folder
        self._python = python

    def serve(
        self,
        spec: ModelSpec,
        *,
        dtype: str,
        strategies: Iterable[Strategy],
        attention: str = "sdpa",
        padded: bool = False,
        fresh: bool = False,
        inspect: Callable[[], InspectionRecord],
        tell: Callable[[str], None] = lambda text: None,
    ) -> InspectionRecord:
        """What is kept, where it covers all that is asked and is not to be made `fresh`; else what `inspect` answers.

        That is kept with what was found before; where it cannot be, `tell` is told.
        """
        before = self._path(spec)
        kept = None if fresh else self._read(before)
        if kept is not None and covers(kept, dtype=dtype, strategies=strategies, attention=attention, padded=padded):
            return kept
        record = inspect()
        whole = together(kept, record) if kept else record
        path = self._path(spec)
        if path is None or before not in (None, path):
            return whole  # what it came from changed meanwhile: nobody knows which of both was read
        try:
            _write(path, json.dumps(whole.as_json()))
        except OSError as error:
            tell(f"The inspection could not be kept in {self._folder}: {error.strerror or error}.")
        return whole

    def find(self, spec: ModelSpec) -> InspectionRecord | None:
        """The record of this model as it stands; None where there is none, or none that can be read."""
        return self._read(self._path(spec))

    @staticmethod
    def _read(path: Path | None) -> InspectionRecord | None:
        if path is None:
            return None
        try:
            record = InspectionRecord.from_json(json.loads(path.read_bytes()))
            return record if _is_sound(record) else None
        except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
            return None

    def _path(self, spec: ModelSpec) -> Path | None:
        source = _source(spec)
        if source is None:
            return None
        made_of = {
            "spec": spec.as_json(),
            "source": source,
            "libraries": library_versions(self._python),
            "code": inspection_code(),
        }
        digest = hashlib.sha256(json.dumps(made_of, sort_keys=True).encode()).hexdigest()
        return self._folder / f"{digest}.json"


def files_of(spec: ModelSpec) -> dict[str, str]:
    """{"files": a digest of a local model's config and of its weights' names and sizes}, the same wherever it lies.

    Nothing for other models, or where its files are not to be seen from here.
    """
    source = _source(spec) if spec.kind is ModelKind.FOLDER else None
    if source is None:
        return {}
    content = {**source, "weights": [(name, size) for name, size, *_ in source["weights"]]}
    return {"files": hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:12]}


def _source(spec: ModelSpec) -> Mapping[str, Any] | None:
    """What stands in the files that an inspection reads; None where they cannot be found here."""
    if spec.kind is ModelKind.ARCHITECTURE:
        return {}  # its config is in the spec
    config = _config_path(spec)
    try:
        if spec.gguf_file:
            return {"weights": list(_weights(Path(spec.path or "")))}  # its config is in one of them
        return None if config is None else {"config": _digest(config), "weights": list(_weights(config.parent))}
    except OSError:
        return None


def _config_path(spec: ModelSpec) -> Path | None:
    if spec.kind is ModelKind.FOLDER:
        return Path(spec.path or "") / "config.json"
    try:
        found = try_to_load_from_cache(spec.name, "config.json", revision=spec.revision)
    except HFValidationError:
        return None
    return Path(found) if isinstance(found, str) else None


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _weights(folder: Path) -> Iterator[tuple[str, int, int, int]]:
    """Each file's name, bytes and times of change: of its content, and of its entry, which nobody sets back."""
    for path in sorted(found for pattern in WEIGHTS for found in folder.glob(pattern)):
        facts = path.stat()
        yield path.name, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns


def _is_sound(record: InspectionRecord) -> bool:
    """Whether it can have come from an inspection: what somebody wrote by hand is made anew."""
    sizes = (record.parameters, *record.weights_bytes.values(), *(rung.tokens for rung in record.rungs))
    native = record.native_context
    named = all(isinstance(value, str) for fields in (record.versions, record.refusals) for value in fields.values())
    heads = (value for layer in record.layers for value in (layer.count, layer.heads, layer.key_width))
    return (
        all(isinstance(size, int) and size > 0 for size in sizes)
        and all(isinstance(value, int) and value >= 0 for value in heads)
        and (native is None or isinstance(native, int))
        and bool(record.layers)
        and "transformers" in record.versions
        and named
    )


def _write(path: Path, text: str) -> None:
    """Whole or not at all: another may read it meanwhile."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(path)
    except OSError:
        part.unlink(missing_ok=True)
        raise
