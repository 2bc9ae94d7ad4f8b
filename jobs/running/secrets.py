"""Secrets that the measuring process is given (a token of the Hub, a proxy's password) leave it in no sentence.

Libraries quote them: the address of a proxy with its password, a signed address of a file, a header. Whatever comes
from that process goes through here before it is kept, logged or shown.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote

HIDDEN = "…"
LEAST_CHARACTERS = 6
"""A shorter one is hidden where it stands in an address alone: elsewhere it may be a word."""
SECRET_NAME = re.compile(r"TOKEN|PASSWORD|SECRET|API_?KEY|CREDENTIAL", re.IGNORECASE)
NOT_A_SECRET = re.compile(r"_PATH$|^HF_HUB_DISABLE", re.IGNORECASE)
MOST_TOKEN_BYTES = 4096
PATTERNS = (
    (re.compile(r"(\b[A-Za-z][\w+.-]*://)[^\s/\"'<>]+@"), rf"\1{HIDDEN}@"),  # user and password of an address
    (re.compile(r"(\bhttps?://[^\s\"'<>?]+)\?[^\s\"'<>]+"), rf"\1?{HIDDEN}"),  # a signature in its query
    (
        re.compile(r"((?:proxy-)?authorization['\"]?\s*[:=,]\s*['\"]?)(?:\w+ +)?[^\s'\",}]+", re.IGNORECASE),
        rf"\1{HIDDEN}",
    ),
    (re.compile(r"\b(Bearer|bearer) +[^\s'\",}]{6,}"), rf"\1 {HIDDEN}"),
    (re.compile(r"\bhf_[A-Za-z0-9]{20,}"), HIDDEN),
)


class Secrets:
    """What is to be hidden, known from the environment that a process is given, and by its form."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        found = {value for value in _values(environment) if len(value) >= LEAST_CHARACTERS}
        self._known = sorted(found, key=len, reverse=True)

    def hidden_in(self, text: str) -> str:
        for value in self._known:
            text = text.replace(value, HIDDEN)
        for pattern, instead in PATTERNS:
            text = pattern.sub(instead, text)
        return text

    def hidden_from(self, data: Any) -> Any:
        """The same data, its texts without secrets."""
        if isinstance(data, str):
            return self.hidden_in(data)
        if isinstance(data, dict):
            return {key: self.hidden_from(value) for key, value in data.items()}
        if isinstance(data, list):
            return [self.hidden_from(value) for value in data]
        return data


def _values(environment: Mapping[str, str]) -> Iterator[str]:
    for name, value in environment.items():
        if SECRET_NAME.search(name) and not NOT_A_SECRET.search(name):
            yield value.strip()
        if "://" in value and "@" in value:
            yield from _passwords(value)
    yield from _token_file(environment)


def _passwords(address: str) -> Iterator[str]:
    """As it is written (not all encode what they should), and as it is meant."""
    user = address.partition("://")[2].rpartition("@")[0]
    password = user.partition(":")[2]
    yield from (password, unquote(password))


def _token_file(environment: Mapping[str, str]) -> Iterator[str]:
    """Where `hf auth login` keeps a token."""
    home = Path(environment.get("HOME", "/"))
    cache = Path(environment.get("XDG_CACHE_HOME") or home / ".cache")
    hub = Path(environment.get("HF_HOME") or cache / "huggingface")
    try:
        with Path(environment.get("HF_TOKEN_PATH") or hub / "token").open("rb") as file:
            yield file.read(MOST_TOKEN_BYTES).decode(errors="replace").strip()
    except OSError:
        return
