"""A Hub model's config.json and its weights' headers, fetched or found in the local cache; never waited for long."""

from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from http.client import HTTPException
from pathlib import Path
from threading import Thread
from typing import TypeVar
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from httpx2 import HTTPError as ClientError
from huggingface_hub import (
    constants,
    get_hf_file_metadata,
    get_safetensors_metadata,
    hf_hub_download,
    hf_hub_url,
    try_to_load_from_cache,
)
from huggingface_hub.errors import (
    EntryNotFoundError,
    HFValidationError,
    NotASafetensorsRepoError,
    RemoteEntryNotFoundError,
    SafetensorsParsingError,
)

from jobs.measuring.hub_refusals import not_a_hub, unreached
from jobs.measuring.library_errors import LIBRARY_ERRORS
from jobs.measuring.load_refusals import load_refusal
from jobs.measuring.stored_headers import FileTensor, folder_tensors
from jobs.sizing.model_spec import ModelKind, ModelSpec
from jobs.sizing.refusal import Refusal

CONFIG_FILE = "config.json"
PATIENCE_S = 4
MOST_CONFIG_WAIT_S = 15.0  # names are looked up, and slow answers read, under no limit of the client's
MOST_HEADERS_WAIT_S = 60.0  # a large model has hundreds of files
HUB_ERRORS = (ClientError, EntryNotFoundError, NotASafetensorsRepoError, SafetensorsParsingError)
Answer = TypeVar("Answer")


def hub_is_reachable() -> bool:
    """One short attempt, without the client's own retries (which take 23 s on a machine without a network)."""
    if constants.is_offline_mode():
        return False
    try:
        return _within(MOST_CONFIG_WAIT_S, _endpoint_answers)
    except TimeoutError:
        return False


def _endpoint_answers() -> bool:
    try:
        with urlopen(Request(constants.ENDPOINT, method="HEAD"), timeout=PATIENCE_S):  # noqa: S310 (the Hub's own)
            return True
    except HTTPError:
        return True
    except (HTTPException, OSError, ValueError):  # no HTTP spoken there, nobody there, no address
        return False


def hub_config(spec: ModelSpec) -> Path:
    """The path of the model's config.json in the local cache, where it is put if the Hub gives it.

    Raises Refusal: offline, gated, model_not_found, bad_revision, bad_token, hub_failed, no_config.
    """
    try:
        return _within(MOST_CONFIG_WAIT_S, lambda: _fetched_or_cached(spec))
    except TimeoutError:
        return _cached(spec, unreached(spec))


def commit_of(spec: ModelSpec) -> dict[str, str]:
    """{"commit": of the config in the local cache}; nothing for other models, or where none is there."""
    if spec.kind is not ModelKind.HUB:
        return {}
    found = try_to_load_from_cache(spec.name, CONFIG_FILE, revision=spec.revision)
    return {"commit": Path(found).parent.name} if isinstance(found, str) else {}


def _fetched_or_cached(spec: ModelSpec) -> Path:
    """Whatever keeps the Hub from answering, a config in the cache will do."""
    if constants.is_offline_mode():
        return _cached(spec, unreached(spec))
    try:
        # Asked first by itself: hf_hub_download would try again for half a minute.
        url = hf_hub_url(spec.name, CONFIG_FILE, revision=spec.revision)
        if get_hf_file_metadata(url, timeout=PATIENCE_S).commit_hash is None:
            return _cached(spec, not_a_hub())
        return Path(hf_hub_download(spec.name, CONFIG_FILE, revision=spec.revision, etag_timeout=PATIENCE_S))
    except RemoteEntryNotFoundError as error:
        raise Refusal(
            "no_config",
            f"“{spec.name}” has no {CONFIG_FILE} on the Hub.",
            "Choose a model in the transformers format; of a GGUF model, download the file and name it.",
        ) from error
    except HFValidationError as error:
        raise Refusal(
            "model_not_found",
            f"“{spec.name}” is not the name of a Hub model.",
            "Write it as organisation/name, with @revision behind it if you mean one.",
        ) from error
    except (ClientError, OSError) as error:
        return _cached(spec, load_refusal(error, spec))


def _cached(spec: ModelSpec, otherwise: Refusal) -> Path:
    """Raises `otherwise` where the config is not in the cache."""
    found = try_to_load_from_cache(spec.name, CONFIG_FILE, revision=spec.revision)
    if not isinstance(found, str):
        raise otherwise
    return Path(found)


def hub_tensors(spec: ModelSpec) -> tuple[FileTensor, ...] | None:
    """Every tensor of the model's safetensors: from the local cache where it is whole there, else asked of the Hub.

    None where neither can tell; only the files' headers are fetched.
    """
    config = try_to_load_from_cache(spec.name, CONFIG_FILE, revision=spec.revision)
    if isinstance(config, str):
        with suppress(Refusal):
            if found := folder_tensors(spec.name, Path(config).parent):
                return found
    if not hub_is_reachable():
        return None
    with suppress(OSError, *HUB_ERRORS):
        return _within(MOST_HEADERS_WAIT_S, lambda: _remote_tensors(spec))
    return None


def _remote_tensors(spec: ModelSpec) -> tuple[FileTensor, ...]:
    headers = get_safetensors_metadata(spec.name, revision=spec.revision, timeout=PATIENCE_S)
    return tuple(
        FileTensor(name=name, elements=info.parameter_count, stored_bytes=info.data_offsets[1] - info.data_offsets[0])
        for file in headers.files_metadata.values()
        for name, info in file.tensors.items()
    )


def _within(limit_s: float, act: Callable[[], Answer]) -> Answer:
    """What `act` answers or raises, if it does so in time; else TimeoutError, and it ends when it ends."""
    answer: Future[Answer] = Future()

    def work() -> None:
        try:
            answer.set_result(act())
        except (*LIBRARY_ERRORS, *HUB_ERRORS, Refusal) as error:  # raised again where the answer is waited for
            answer.set_exception(error)

    Thread(target=work, daemon=True).start()
    return answer.result(timeout=limit_s)
