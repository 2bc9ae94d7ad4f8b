"""What an answer of the Hub means, or the lack of one, said so that its reader knows what to do.

Without a token the Hub answers alike for a model that does not exist and for a private one; the sentence says so.
"""

from collections.abc import Sequence

from httpx2 import TransportError
from huggingface_hub import constants, get_token
from huggingface_hub.errors import (
    DisabledRepoError,
    FileMetadataError,
    GatedRepoError,
    HfHubHTTPError,
    LocalEntryNotFoundError,
    OfflineModeIsEnabled,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)

from jobs.sizing.model_spec import ModelSpec
from jobs.sizing.refusal import Refusal

UNAUTHORIZED, FORBIDDEN, TOO_MANY = 401, 403, 429
UNREACHED = (LocalEntryNotFoundError, OfflineModeIsEnabled, TransportError)


def hub_refusal(causes: Sequence[BaseException], spec: ModelSpec) -> Refusal | None:
    """The refusal for an error and what it came from; None where the Hub had no part in it."""
    for error in causes:
        if isinstance(error, HfHubHTTPError) and (found := _answered(error, spec)):
            return found
    if any(isinstance(error, FileMetadataError) for error in causes):
        return not_a_hub()
    return unreached(spec) if any(isinstance(error, UNREACHED) for error in causes) else None


def _answered(error: HfHubHTTPError, spec: ModelSpec) -> Refusal | None:
    status = error.response.status_code
    if isinstance(error, GatedRepoError):
        return _gated(spec)
    if isinstance(error, RevisionNotFoundError):
        return Refusal(
            "bad_revision",
            f"“{spec.name}” has no revision “{spec.revision}”.",
            "Give a branch, a tag or a commit that is on the model's page.",
        )
    if isinstance(error, DisabledRepoError):
        return Refusal("model_not_found", f"The Hub has disabled “{spec.name}”.", "Choose another model.")
    if isinstance(error, RepositoryNotFoundError):
        return _not_found(spec)
    if status in (UNAUTHORIZED, FORBIDDEN):
        return _bad_token(spec, status)
    if status == TOO_MANY or status >= 500:
        return Refusal(
            "hub_failed",
            f"The Hub answers no question about “{spec.name}” now (status {status}).",
            "Try again in some minutes; with HF_TOKEN set, the Hub answers more often.",
        )
    return None


def _gated(spec: ModelSpec) -> Refusal:
    if get_token() is None:
        return Refusal(
            "gated",
            f"“{spec.name}” is gated: its owners ask you to accept their terms first, and this worker has no token.",
            "Accept them on the model's page and start the worker with HF_TOKEN set to a token of yours.",
        )
    return Refusal(
        "gated",
        f"“{spec.name}” is gated, and the account of this worker's token has no access to it.",
        "Accept the terms on the model's page with that account, and let the token read gated models.",
    )


def _not_found(spec: ModelSpec) -> Refusal:
    if get_token() is None:
        return Refusal(
            "model_not_found",
            f"There is no public model “{spec.name}” on the Hub; without a token a private one looks the same.",
            "Check the spelling (organisation/name); for a private model start the worker with HF_TOKEN set.",
        )
    return Refusal(
        "model_not_found",
        f"There is no model “{spec.name}” on the Hub that this worker's token may see.",
        "Check the spelling (organisation/name), and whether the token may read that organisation's models.",
    )


def _bad_token(spec: ModelSpec, status: int) -> Refusal:
    if get_token() is not None and status == UNAUTHORIZED:
        return Refusal(
            "bad_token",
            "The Hub refuses this worker's token.",
            "Set HF_TOKEN to a valid one, or unset it for models that need none.",
        )
    return Refusal(
        "bad_token",
        f"The Hub does not let this worker read “{spec.name}” (status {status}).",
        "Set HF_TOKEN to a token that may read it.",
    )


def not_a_hub() -> Refusal:
    return Refusal(
        "hub_failed",
        f"What answers at {constants.ENDPOINT} does not answer as the Hub does.",
        "Check HF_ENDPOINT, and whether a proxy stands between.",
    )


def unreached(spec: ModelSpec) -> Refusal:
    """Not in the cache, and nobody to ask."""
    if constants.is_offline_mode():
        return Refusal(
            "offline",
            f"“{spec.name}” is not in the local cache, and HF_HUB_OFFLINE forbids fetching it.",
            "Download it once while online, or choose a local folder.",
        )
    return Refusal(
        "offline",
        f"“{spec.name}” is not in the local cache, and {constants.ENDPOINT} cannot be reached.",
        "Check the network of the worker, or choose a local folder.",
    )
