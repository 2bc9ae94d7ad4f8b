"""A Hub model's files brought into the local cache before anything is timed: what is needed, whole, and no more.

Weights are fetched into a file of our own beside the cache's, which a later attempt goes on with: the client of the Hub
(huggingface_hub 2.4) begins each file anew.
"""

import errno
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic
from urllib.parse import urlsplit

from huggingface_hub import constants, get_hf_file_metadata, hf_hub_download, hf_hub_url
from huggingface_hub.file_download import http_get
from huggingface_hub.utils._headers import build_hf_headers

from jobs.measuring.fetched_file import PART_SUFFIX, CountedFile, Progress, Tell, alone
from jobs.measuring.hub_files import HubFiles, hub_files, kept_snapshot
from jobs.measuring.hub_refusals import unreached
from jobs.measuring.hub_source import HUB_ERRORS, PATIENCE_S, hub_is_reachable
from jobs.measuring.library_errors import LIBRARY_ERRORS
from jobs.measuring.load_refusals import load_refusal
from jobs.measuring.stored_headers import file_bytes, folder_tensors
from jobs.sizing.model_spec import ModelSpec
from jobs.sizing.refusal import Refusal
from jobs.sizing.units import bytes_text

FILES_AT_ONCE = 4
MORE_DISK = "Free some space there, or start the worker with HF_HOME set to a folder on a larger disk."


@dataclass(frozen=True, kw_only=True)
class Fetched:
    """bytes: of all files that the run needs; fetched_bytes: of those, what came over the network this time.

    revision: the commit that they are of.
    """

    revision: str
    bytes: int
    fetched_bytes: int
    seconds: float


def fetch(spec: ModelSpec, *, tell: Tell, check: Callable[[ModelSpec], None]) -> Fetched:
    """`check` is called once the config is here and before the weights are fetched; it may raise a Refusal.

    Raises Refusal: not_enough_disk, offline, gated, model_not_found, bad_revision, bad_token, hub_failed, load_failed,
    missing_weights, broken_weights.
    """
    began_s = monotonic()
    try:
        files = hub_files(spec) if hub_is_reachable() else None
    except (*LIBRARY_ERRORS, *HUB_ERRORS) as error:
        return _kept(spec, load_refusal(error, spec), check)
    if files is None:
        return _kept(spec, unreached(spec), check)
    try:
        return _fetch(spec, files, tell, check, began_s)
    except (*LIBRARY_ERRORS, *HUB_ERRORS) as error:
        if isinstance(error, OSError) and error.errno == errno.ENOSPC:
            raise _disk_filled_up(spec) from error
        raise load_refusal(error, spec) from error


def _kept(spec: ModelSpec, otherwise: Refusal, check: Callable[[ModelSpec], None]) -> Fetched:
    """What is whole in the cache will do where the Hub does not answer; else raises `otherwise`."""
    folder = kept_snapshot(spec)
    if folder is None:
        raise otherwise
    check(spec)
    size = file_bytes(folder_tensors(spec.name, folder) or ())
    return Fetched(revision=folder.name, bytes=size, fetched_bytes=0, seconds=0.0)


def _fetch(spec: ModelSpec, files: HubFiles, tell: Tell, check: Callable[[ModelSpec], None], began_s: float) -> Fetched:
    small = [name for name in (*files.beside_weights, files.index) if name]
    fresh_bytes = sum(files.sizes[name] for name in small if not files.here(name))
    # By its own name first: what a branch stands for is kept with it, so that it is found without a network too.
    hf_hub_download(files.name, small[0], revision=spec.revision, etag_timeout=PATIENCE_S)
    paths = {name: files.named(name) for name in small}
    check(replace(spec, revision=files.commit))
    weights = files.weights(paths[files.index] if files.index else None)
    lacking = [name for name in weights if not files.here(name)]
    _refuse_full_disk(files, lacking)
    whole_bytes = sum(files.sizes[name] for name in (*small, *weights))
    held_bytes = whole_bytes - sum(files.sizes[name] for name in lacking)
    progress = Progress(tell=tell, whole_bytes=whole_bytes, held_bytes=held_bytes, began_s=began_s)
    with ThreadPoolExecutor(max_workers=FILES_AT_ONCE) as pool:
        for done in [pool.submit(_fetch_file, files, name, progress) for name in lacking]:
            done.result()
    return Fetched(
        revision=files.commit,
        bytes=whole_bytes,
        fetched_bytes=fresh_bytes + progress.fetched_bytes,
        seconds=monotonic() - began_s,
    )


def _disk_filled_up(spec: ModelSpec) -> Refusal:
    return Refusal("not_enough_disk", f"The disk became full while “{spec.name}” was downloaded.", MORE_DISK)


def _refuse_full_disk(files: HubFiles, lacking: list[str]) -> None:
    there_bytes = sum(part.stat().st_size for part in files.blobs.glob(f"*{PART_SUFFIX}"))
    needed_bytes = max(0, sum(files.sizes[name] for name in lacking) - there_bytes)
    cache = Path(constants.HF_HUB_CACHE)
    folder = next(one for one in (cache, *cache.parents) if one.exists())
    free_bytes = shutil.disk_usage(folder).free
    if needed_bytes > free_bytes:
        raise Refusal(
            "not_enough_disk",
            f"Downloading “{files.name}” takes {bytes_text(needed_bytes)}, and the disk of the worker's Hub cache has "
            f"{bytes_text(free_bytes)} free.",
            MORE_DISK,
        )


def _fetch_file(files: HubFiles, name: str, progress: Progress) -> None:
    url = hf_hub_url(files.name, name, revision=files.commit)
    facts = get_hf_file_metadata(url, timeout=PATIENCE_S)
    headers = build_hf_headers()
    if urlsplit(facts.location).netloc != urlsplit(url).netloc:
        headers.pop("authorization", None)  # the token is for the Hub, not for where it keeps its files
    files.blobs.mkdir(parents=True, exist_ok=True)
    blob, part = files.blobs / str(facts.etag), files.blobs / f"{facts.etag}{PART_SUFFIX}"
    with CountedFile(part, progress) as file:
        alone(file, progress)
        if not blob.exists():
            held_bytes = file.held_bytes(most=files.sizes[name])
            http_get(facts.location, file, resume_size=held_bytes, headers=headers, expected_size=files.sizes[name])
            part.replace(blob)
        else:  # another worker was quicker
            part.unlink(missing_ok=True)
    files.named(name)
