"""Which commit a Hub model's revision stands for, asked once and never waited for long."""

import re
from concurrent.futures import Future
from threading import Thread

from httpx2 import HTTPError as ClientError
from huggingface_hub import constants, get_hf_file_metadata, hf_hub_url
from huggingface_hub.errors import HfHubHTTPError, HFValidationError

COMMIT = re.compile(r"[0-9a-f]{40}")
CONFIG_FILE = "config.json"
PATIENCE_S = 4.0
REFUSED = range(400, 500)
TOO_MANY = 429


class HubUnreached(Exception):
    """Nobody answered in time, or nobody is to be asked now: nothing is known of any model."""


def is_commit(revision: str) -> bool:
    """A commit stays what it is; a branch may move."""
    return COMMIT.fullmatch(revision) is not None


def hub_commit(name: str, revision: str, *, patience_s: float = PATIENCE_S) -> str | None:
    """None where the Hub does not tell it of this model: gated, gone, no such revision.

    revision: empty for the default branch. The client reads HF_ENDPOINT, HF_TOKEN and HF_HUB_OFFLINE from the
    environment. Raises HubUnreached.
    """
    if constants.is_offline_mode():
        raise HubUnreached
    answer: Future[str | None] = Future()
    # A name is looked up, and a slow answer read, under no limit of the client's.
    Thread(target=_ask, args=(name, revision, patience_s, answer), daemon=True).start()
    try:
        return answer.result(timeout=2 * patience_s)
    except HfHubHTTPError as refused:
        status = refused.response.status_code
        if status in REFUSED and status != TOO_MANY:
            return None
        raise HubUnreached from refused
    except HFValidationError:
        return None
    except (TimeoutError, ClientError, OSError, ValueError) as error:
        raise HubUnreached from error


def _ask(name: str, revision: str, patience_s: float, answer: "Future[str | None]") -> None:
    try:
        url = hf_hub_url(name, CONFIG_FILE, revision=revision or None)
        answer.set_result(get_hf_file_metadata(url, timeout=patience_s).commit_hash)
    except (ClientError, OSError, ValueError) as error:  # raised again where the answer is waited for
        answer.set_exception(error)
