"""What the environment says of addresses, mail, and what the log says of them."""

import logging

import pytest

from jobs.sizing.refusal import Refusal
from kvportal.env import email, public_url
from kvportal.secret_paths import WithoutSecrets


@pytest.mark.parametrize(
    ("given", "host", "found"),
    [
        ("", "127.0.0.1", "http://127.0.0.1:8000"),
        ("", "0.0.0.0", "http://127.0.0.1:8000"),
        ("", "::", "http://[::1]:8000"),
        (" https://kv.example.org/ ", "0.0.0.0", "https://kv.example.org"),
        ("http://10.0.0.1:81", "0.0.0.0", "http://10.0.0.1:81"),
    ],
)
def test_links_begin_with_the_public_address(monkeypatch, given: str, host: str, found: str) -> None:
    monkeypatch.setenv("PUBLIC_URL", given)
    assert public_url(host=host, port=8000) == found


@pytest.mark.parametrize("given", ["kv.example.org", "ftp://x", "https://u:p@x", "https://x/a", "https://x?a", "x y"])
def test_a_public_address_that_is_none_is_refused(monkeypatch, given: str) -> None:
    monkeypatch.setenv("PUBLIC_URL", given)
    with pytest.raises(Refusal):
        public_url(host="127.0.0.1", port=8000)


def test_the_mail_server_is_read_from_one_address() -> None:
    found = email("smtp+tls://kv%40x.org:p%2Fw@mail.example.org:587")
    assert found["EMAIL_HOST_USER"] == "kv@x.org" and found["EMAIL_HOST_PASSWORD"] == "p/w" and found["EMAIL_USE_TLS"]
    assert (found["EMAIL_HOST"], found["EMAIL_PORT"]) == ("mail.example.org", 587)
    assert email("") == {}
    plain = email("smtp://mail.example.org:25")
    assert (plain["EMAIL_HOST"], plain["EMAIL_PORT"]) == ("mail.example.org", 25)
    assert not plain.get("EMAIL_USE_TLS") and not plain.get("EMAIL_USE_SSL")


@pytest.mark.parametrize("given", ["mail.example.org", "smtp://", "https://mail.example.org", "smtp://x:port"])
def test_a_mail_server_that_is_none_is_refused(given: str) -> None:
    with pytest.raises(Refusal):
        email(given)


@pytest.mark.parametrize("path", ["/join/", "/s/", "/setup/", "/reset/MQ/"])
def test_no_secret_of_an_address_is_logged(path: str) -> None:
    record = logging.LogRecord("django.request", 30, "", 0, "%s: %s", ("Not Found", f"{path}se-cret_1/"), None)
    assert WithoutSecrets().filter(record)
    assert "se-cret" not in record.getMessage() and path.split("/")[1] in record.getMessage()
