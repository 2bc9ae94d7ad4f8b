"""A Hub model's config.json, fetched or found in the local cache; quick to say when the Hub cannot be reached."""

from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from huggingface_hub import constants, hf_hub_download
from huggingface_hub.errors import HFValidationError, RemoteEntryNotFoundError

from jobs.measuring.load_refusals import load_refusal
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
