"""Which model a text means: a built-in architecture, a folder, a GGUF file, or a Hub id. Reads config.json alone."""

import json
import re
from pathlib import Path
from typing import Any

from jobs.running import model_refusals as refuse
from jobs.sizing import architectures
from jobs.sizing.model_spec import ModelKind, ModelSpec

HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}", re.ASCII)
REVISION = re.compile(r"[\w.-]{1,200}", re.ASCII)
CONFIG_FILE = "config.json"
GGUF_SUFFIX = ".gguf"
MOST_CONFIG_BYTES = 2**22
MOST_CHARACTERS = 1000


def resolve_model(
    text: str, *, revision: str | None = None, models_dir: Path | None = None, any_folder: bool = False
) -> ModelSpec:
    """The model that `text` means: a built-in name first, then a folder or GGUF file, then a Hub id (`org/name@rev`).

    A folder or file may be given by its path or by its name below `models_dir`; with symbolic links resolved it must
    lie below `models_dir`, unless `any_folder`. Raises Refusal: unknown_model, outside_models, no_config,
    broken_config, needs_remote_code, several_gguf, bad_revision.
    """
    name = text.strip()
    if not name or len(name) > MOST_CHARACTERS or not name.isprintable():
        raise refuse.unknown_model(name)
    known = architectures.find(name)
    if known is not None:
        config = architectures.config(known)
        return ModelSpec(kind=ModelKind.ARCHITECTURE, name=known, config=config, random_weights=True)
    path = _path(name, models_dir, any_folder=any_folder)
    if path is None:
        return _hub(name, revision)
    if not any_folder and models_dir is not None:
        name = str(path.relative_to(models_dir.resolve()))  # one folder, one name
    return _local(name, path)


def _path(name: str, models_dir: Path | None, *, any_folder: bool) -> Path | None:
    """The folder or file that is meant, resolved; None where the text cannot be one.

    Where only models_dir is open, a path outside gets one answer, whether it exists or not.
    """
    candidates = [_expanded(name)] if any_folder or Path(name).is_absolute() else []
    if models_dir is not None:
        candidates.append(models_dir / name)
    for candidate in candidates:
        path = _resolved(candidate)
        if not any_folder and not _is_below(path, models_dir):
            raise refuse.outside_models(name)
        if _exists(path):
            return path
    if _is_path(name):
        raise refuse.no_such_folder(name)
    return None


def _expanded(name: str) -> Path:
    try:
        return Path(name).expanduser()
    except RuntimeError:  # ~ of a user that is not there
        return Path(name)


def _resolved(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError):  # a name too long, a link in a circle
        return path


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:
        return False


def _is_path(name: str) -> bool:
    return name.startswith(("/", ".", "~")) or name.partition("@")[0].count("/") > 1


def _is_below(folder: Path, models_dir: Path | None) -> bool:
    return models_dir is not None and models_dir.resolve() in folder.parents


def _local(name: str, path: Path) -> ModelSpec:
    gguf = _gguf(name, path)
    if gguf is not None:
        return ModelSpec(kind=ModelKind.FOLDER, name=name, path=str(gguf.parent), gguf_file=gguf.name)
    if not path.is_dir():
        raise refuse.not_a_folder(name)
    _check_config(name, read_config(name, path))
    return ModelSpec(kind=ModelKind.FOLDER, name=name, path=str(path))


def _gguf(name: str, path: Path) -> Path | None:
    """The GGUF file that is meant: the path itself, or the only one in a folder that holds no config.json."""
    if path.is_file():
        return path if path.suffix.lower() == GGUF_SUFFIX else None
    if (path / CONFIG_FILE).exists():
        return None
    try:
        files = sorted(file for file in path.iterdir() if file.suffix.lower() == GGUF_SUFFIX and file.is_file())
    except OSError:
        return None
    if len(files) > 1:
        raise refuse.several_gguf(name, [file.name for file in files])
    return files[0] if files else None


def read_config(name: str, folder: Path) -> dict[str, Any]:
    """The content of the folder's config.json; raises Refusal (no_config, broken_config)."""
    path = folder / CONFIG_FILE
    if not path.is_file():
        raise refuse.no_config(name)
    try:
        with path.open("rb") as file:
            raw = file.read(MOST_CONFIG_BYTES + 1)
        if len(raw) > MOST_CONFIG_BYTES:
            raise refuse.broken_config(name, "it is larger than any model's")
        fields = json.loads(raw)
    except (OSError, ValueError, RecursionError) as error:
        raise refuse.broken_config(name, "it cannot be read as JSON") from error
    if not isinstance(fields, dict):
        raise refuse.broken_config(name, "it is not a JSON object")
    return fields


def _check_config(name: str, fields: dict[str, Any]) -> None:
    """Refuse what config.json alone tells: no type, or a model that is nothing but its own code."""
    model_type = fields.get("model_type")
    if not isinstance(model_type, str) or not model_type:
        if "auto_map" in fields:
            raise refuse.needs_remote_code(name)
        raise refuse.broken_config(name, "it names no model_type")


def _hub(text: str, revision: str | None) -> ModelSpec:
    name, _, own_revision = text.partition("@")
    chosen = own_revision or (revision or "").strip() or None
    if not HUB_NAME.fullmatch(name) or "--" in name or ".." in name:
        raise refuse.unknown_model(text)
    if chosen is not None and (".." in chosen or not REVISION.fullmatch(chosen.replace("/", "-"))):
        raise refuse.bad_revision(chosen)
    return ModelSpec(kind=ModelKind.HUB, name=name, revision=chosen)
