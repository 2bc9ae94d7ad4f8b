"""Which model a text means: a built-in architecture, a folder, or a Hub id. Reads config.json and nothing else."""

import json
import re
from pathlib import Path
from typing import Any

from jobs.running import model_refusals as refuse
from jobs.sizing import architectures
from jobs.sizing.model_spec import ModelKind, ModelSpec

HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}", re.ASCII)
REVISION = re.compile(r"[\w.-]{1,200}", re.ASCII)
MOST_CONFIG_BYTES = 2**22
MOST_CHARACTERS = 1000


def resolve_model(
    text: str, *, revision: str | None = None, models_dir: Path | None = None, any_folder: bool = False
) -> ModelSpec:
    """The model that `text` means: a built-in name first, then a folder, then a Hub id (`org/name` or `org/name@rev`).

    A folder may be given by its path or by its name below `models_dir`; with symbolic links resolved it must lie
    below `models_dir`, unless `any_folder`. Raises Refusal: unknown_model, outside_models, no_config, broken_config,
    needs_remote_code, bad_revision.
    """
    name = text.strip()
    if not name or len(name) > MOST_CHARACTERS or not name.isprintable():
        raise refuse.unknown_model(name)
    known = architectures.find(name)
    if known is not None:
        config = architectures.config(known)
        return ModelSpec(kind=ModelKind.ARCHITECTURE, name=known, config=config, random_weights=True)
    folder = _folder(name, models_dir, any_folder=any_folder)
    if folder is None:
        return _hub(name, revision)
    if not any_folder and models_dir is not None:
        name = str(folder.relative_to(models_dir.resolve()))  # one folder, one name
    return _local(name, folder)


def _folder(name: str, models_dir: Path | None, *, any_folder: bool) -> Path | None:
    """The folder that is meant, resolved; None where the text cannot be one.

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
    return name.startswith(("/", ".", "~")) or name.count("/") > 1


def _is_below(folder: Path, models_dir: Path | None) -> bool:
    return models_dir is not None and models_dir.resolve() in folder.parents


def _local(name: str, folder: Path) -> ModelSpec:
    if not folder.is_dir():
        raise refuse.not_a_folder(name)
    _check_config(name, read_config(name, folder))
    return ModelSpec(kind=ModelKind.FOLDER, name=name, path=str(folder))


def read_config(name: str, folder: Path) -> dict[str, Any]:
    """The content of the folder's config.json; raises Refusal (no_config, broken_config)."""
    path = folder / "config.json"
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
