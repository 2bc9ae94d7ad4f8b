"""Records of inspections kept as files, so that a model is read once: the second answer needs no torch.

A file's name is a digest of all that the record came from: the config as it stands, the files that hold the weights,
the libraries, and the code that inspects. Whatever changes among them, the record is made anew.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from tempfile import NamedTemporaryFile
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
        inspect: Callable[[], InspectionRecord],
        tell: Callable[[str], None] = lambda text: None,
    ) -> InspectionRecord:
        """What is kept, where it covers all that is asked; else what `inspect` answers, which is kept."""
        kept = self.find(spec)
        if kept is not None and covers(kept, dtype=dtype, strategies=strategies, attention=attention, padded=padded):
            return kept
        record = inspect()
        try:
            return self.keep(spec, record)
        except OSError as error:
            tell(f"The inspection could not be kept in {self._folder}: {error.strerror or error}.")
            return together(kept, record) if kept else record

    def find(self, spec: ModelSpec) -> InspectionRecord | None:
        """The record of this model as it stands; None where there is none, or none that can be read."""
        path = self._path(spec)
        if path is None:
            return None
        try:
            return InspectionRecord.from_json(json.loads(path.read_bytes()))
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            return None

    def keep(self, spec: ModelSpec, record: InspectionRecord) -> InspectionRecord:
        """Put it with what is kept of the model, and answer both as one; raises OSError where it cannot be written."""
        kept = self.find(spec)
        whole = together(kept, record) if kept else record
        path = self._path(spec)
        if path is not None:
            _write(path, json.dumps(whole.as_json()))
        return whole

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


def _weights(folder: Path) -> Iterator[tuple[str, int, int]]:
    """Each file's name, bytes and time of change."""
    for path in sorted(found for pattern in WEIGHTS for found in folder.glob(pattern)):
        facts = path.stat()
        yield path.name, facts.st_size, facts.st_mtime_ns


def _write(path: Path, text: str) -> None:
    """Whole or not at all: another may read it meanwhile."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with NamedTemporaryFile("w", dir=path.parent, delete=False, encoding="utf-8") as file:
        file.write(text)
    Path(file.name).replace(path)
