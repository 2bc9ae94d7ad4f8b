"""The Hub's token and a proxy's password reach the measuring process, and leave it in nothing that it says."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from jobs.running.process import MeasuringProcess, ProcessDied
from jobs.running.secrets import Secrets
from jobs.sizing.refusal import Refusal
from tests.running.conftest import FAKE

TOKEN = "token-of-no-known-form-1234"
PASSWORD = "p%40ss/w0rd-9"
MEANT = "p@ss/w0rd-9"
PROXY = f"http://ann:{PASSWORD}@proxy.example:3128"
GIVEN = {"HF_TOKEN": TOKEN, "HTTPS_PROXY": PROXY, "https_proxy": PROXY, "NO_PROXY": "localhost"}


@pytest.fixture
def process() -> Iterator[MeasuringProcess]:
    with MeasuringProcess(environment=GIVEN, module=FAKE) as one:
        yield one


def leaked(text: str) -> list[str]:
    return [secret for secret in (TOKEN, PASSWORD, MEANT, "abc%2Fdef", "Expires") if secret in text]


def test_the_token_and_the_proxies_reach_the_process_unchanged(process: MeasuringProcess) -> None:
    seen = process.request("digests", patience_s=30)
    for name, value in GIVEN.items():
        assert seen[name] == hashlib.sha256(value.encode()).hexdigest()


def test_they_are_in_no_progress_no_refusal_and_no_last_words(process: MeasuringProcess) -> None:
    told: list[str] = []
    with pytest.raises(Refusal) as refused:
        process.request("quote", patience_s=30, tell=told.append)
    with pytest.raises(ProcessDied) as died:
        process.request("exit", patience_s=30)
    said = [*told, *refused.value.as_json().values(), died.value.last_words, str(died.value)]
    assert [leaked(text) for text in said] == [[]] * len(said)
    assert "was cut in two" in died.value.last_words
    assert "http://…@proxy.example:3128" in refused.value.message
    assert "https://cdn.example/x?…" in refused.value.message


def test_what_has_the_form_of_a_secret_is_hidden_though_it_was_not_given() -> None:
    hide = Secrets({}).hidden_in
    assert hide("hf_" + "aB3" * 11) == "…"
    assert hide("socks5h://user:pw@host:1080 failed") == "socks5h://…@host:1080 failed"
    assert hide("{'authorization': 'Bearer abcdef123'}") == "{'authorization': '…'}"
    assert hide("Proxy-Authorization: Basic QWxhZGRpbg==") == "Proxy-Authorization: …"
    assert hide("Bearer abcdef123 was refused") == "Bearer … was refused"


@pytest.mark.parametrize(
    "text",
    [
        "“org/name@main” does not load: hf_hub_download failed",
        "https://huggingface.co/org/name/resolve/main/config.json",
        "org/name@5f0b02c75b57c5855da9ae460ce51323ea669d8a",
        "Out of memory: 3.00 GiB more were refused.",
    ],
)
def test_plain_words_stay_as_they_are(text: str) -> None:
    assert Secrets(GIVEN).hidden_in(text) == text


def test_a_token_kept_in_a_file_is_known_too(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("kept-in-a-file-77\n")
    assert Secrets({"HF_HOME": str(tmp_path)}).hidden_from({"a": ["kept-in-a-file-77", 1]}) == {"a": ["…", 1]}


def test_a_short_value_or_a_path_hides_no_word() -> None:
    secrets = Secrets({"HF_TOKEN": "cpu", "HF_TOKEN_PATH": "/home/ann/token-file", "HTTP_PROXY": "http://a:model@h"})
    assert secrets.hidden_in("the model on a cpu, /home/ann/token-file") == "the model on a cpu, /home/ann/token-file"
