"""A Hub model's config.json, fetched or found in the local cache; quick to say when the Hub cannot be reached."""

from contextlib import suppress
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from httpx2 import HTTPError as ClientError
from huggingface_hub import constants, get_safetensors_metadata, hf_hub_download, try_to_load_from_cache
from huggingface_hub.errors import (
    HFValidationError,
    NotASafetensorsRepoError,
    RemoteEntryNotFoundError,
    SafetensorsParsingError,
)

from jobs.measuring.load_refusals import load_refusal
from jobs.measuring.stored_headers import FileTensor, folder_tensors
from jobs.sizing.model_spec import ModelSpec
from jobs.sizing.refusal import Refusal

PATIENCE_S = 4


def hub_is_reachable() -> bool:
    """One short attempt, without the client's own retries (which take 23 s on a machine without a network)."""
    if constants.HF_HUB_OFFLINE:
        return False
    try:
        with urlopen(Request(constants.ENDPOINT, method="HEAD"), timeout=PATIENCE_S):  # noqa: S310 (the Hub's own)
            return True
    except HTTPError:
        return True
    except OSError:
        return False


def hub_config(spec: ModelSpec) -> Path:
    """The path of the model's config.json in the local cache.

    Raises Refusal: offline, gated, model_not_found, bad_token, no_config.
    """
    try:
        path = hf_hub_download(
            spec.name,
            "config.json",
            revision=spec.revision,
            etag_timeout=PATIENCE_S,
            local_files_only=not hub_is_reachable(),
        )
    except RemoteEntryNotFoundError as error:
        raise Refusal(
            "no_config",
            f"“{spec.name}” has no config.json on the Hub.",
            "Choose a model in the transformers format.",
        ) from error
    except HFValidationError as error:
        raise Refusal(
            "model_not_found",
            f"“{spec.name}” is not the name of a Hub model.",
            "Write it as organisation/name, with @revision behind it if you mean one.",
        ) from error
    except OSError as error:
        raise load_refusal(error, spec) from error
    return Path(path)


def hub_tensors(spec: ModelSpec) -> tuple[FileTensor, ...] | None:
    """Every tensor of the model's safetensors: from the local cache where it is whole there, else asked of the Hub.

    None where neither can tell; only the files' headers are fetched.
    """
    config = try_to_load_from_cache(spec.name, "config.json", revision=spec.revision)
    if isinstance(config, str):
        with suppress(Refusal):
            if found := folder_tensors(spec.name, Path(config).parent):
                return found
    if not hub_is_reachable():
        return None
    try:
        headers = get_safetensors_metadata(spec.name, revision=spec.revision, timeout=PATIENCE_S)
    except (ClientError, NotASafetensorsRepoError, OSError, SafetensorsParsingError):
        return None
    return tuple(
        FileTensor(name=name, elements=info.parameter_count, stored_bytes=info.data_offsets[1] - info.data_offsets[0])
        for file in headers.files_metadata.values()
        for name, info in file.tensors.items()
    )
