"""Collects the static files when one of them is new or changed, else leaves them: a start must be quick."""

import json
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command


def collect_if_changed() -> None:
    if not are_collected():
        call_command("collectstatic", interactive=False, verbosity=0)


def are_collected() -> bool:
    manifest = Path(settings.STATIC_ROOT) / "staticfiles.json"
    if not manifest.exists():
        return False
    collected_s = manifest.stat().st_mtime
    known = set(json.loads(manifest.read_text())["paths"])
    return all(name in known and path.stat().st_mtime <= collected_s for name, path in _sources())


def _sources() -> Iterator[tuple[str, Path]]:
    for finder in get_finders():
        for name, storage in finder.list([]):
            yield name, Path(storage.path(name))
