"""A webhook is told over https at a public address, and of whatever goes wrong the sentence keeps its secret."""

import socket
import ssl
from collections.abc import Iterator
from pathlib import Path
from time import monotonic

import pytest

from jobs.services import webhook
from jobs.services.webhook import Reach, WebhookFailed, resolved, webhook_post
from jobs.services.webhook_address import is_public, webhook_host, webhook_target
from jobs.sizing.refusal import Refusal
from tests.services.tls_server import HOST, TlsServer, tls_server

NOT_PUBLIC = [
    *("127.0.0.1", "127.8.9.1", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0"),
    *("192.0.0.8", "192.0.2.1", "198.18.0.1", "224.0.0.1", "239.1.1.1", "240.0.0.1", "255.255.255.255", "192.88.99.1"),
    *("::1", "::", "fe80::1", "fe80::1%1", "fc00::1", "fec0::1", "ff02::1", "2001:db8::1", "::ffff:127.0.0.1"),
    *("::ffff:10.0.0.1", "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b:1::1", "2002:7f00:1::", "2001::1", "3fff::1"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tls")


@pytest.fixture
def server(folder: Path) -> Iterator[TlsServer]:
    with tls_server(folder) as server:
        yield server


def failure(address: str, reach: Reach) -> str:
    with pytest.raises(WebhookFailed) as caught:
        webhook_post(address=address, message={"text": "hello"}, reach=reach)
    assert "se-cret" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("address", NOT_PUBLIC)
def test_an_address_that_not_everybody_can_reach_is_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", ["8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8", "100.128.0.1", "172.32.0.1"])
def test_any_other_is(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        "http://hooks.example.org/x",
        "https://",
        "https:///x",
        "//hooks.example.org/x",
        "https://user:password@hooks.example.org/x",
        "https://user@hooks.example.org/x",
        "https://hooks.example.org\\@10.0.0.1/x",
        "https://hooks.example.org/x#y",
        "https://hooks.example.org/a b",
        "https://hooks.example.org/a\r\nHost: x",
        " https://hooks.example.org/x",
        "https://hooks.example.org:22/x",
        "https://hooks.example.org:80/x",
        "https://hooks.example.org:0/x",
        "https://hooks.example.org:65536/x",
        "https://127.0.0.1/x",
        "https://[::1]:8443/x",
        "https://[::ffff:10.0.0.1]/x",
        "https://hooks.example.org/" + "x" * 500,
        "ftp://hooks.example.org/",
        "file:///etc/passwd",
    ],
)
def test_an_address_that_may_be_no_webhook_s_is_refused(address: str) -> None:
    with pytest.raises(Refusal) as caught:
        webhook_target(address)
    assert caught.value.code == "bad_webhook"


def test_what_an_address_shows_is_its_host() -> None:
    target = webhook_target("https://Hooks.Slack.com./services/T0/B0/x?y=1")
    assert (target.host, target.port, target.path, target.authority) == (
        "hooks.slack.com",
        443,
        "/services/T0/B0/x?y=1",
        "hooks.slack.com",
    )
    assert webhook_host("https://hooks.slack.com/services/T0") == "hooks.slack.com" and webhook_host("") == ""
    assert webhook_target("https://[2606:4700::1]:8443").authority == "[2606:4700::1]:8443"


@pytest.mark.parametrize("host", ["2130706433", "0x7f000001", "0x7f.1", "127.1", "017700000001", "localhost"])
def test_a_number_in_another_form_is_checked_as_what_it_resolves_to(host: str) -> None:
    assert "not at a public address" in failure(f"https://{host}/se-cret", Reach())


def test_one_address_of_a_name_that_is_not_public_is_enough_to_refuse_it(server: TlsServer) -> None:
    reach = server.reach(resolve=lambda host, port: ["8.8.8.8", "10.0.0.1"], allowed=is_public)
    assert "not at a public address" in failure(server.address, reach)
    assert not server.heads


def test_a_message_arrives_under_its_name_though_the_connection_is_to_a_checked_address(server: TlsServer) -> None:
    asked: list[str] = []

    def rebinding(host: str, port: int) -> list[str]:
        asked.append(host)
        return ["127.0.0.1"] if len(asked) == 1 else ["10.0.0.1"]

    assert (
        webhook_post(address=server.address, message={"text": "é"}, reach=server.reach(resolve=rebinding)) == "200 OK"
    )
    assert asked == [HOST], "resolved once, so that it cannot become another"
    assert server.bodies == [{"text": "é"}] and server.names == [HOST]
    head = server.heads[0].split("\r\n")
    assert head[0] == "POST /services/T0/se-cret?key=very-se-cret HTTP/1.1"
    assert f"Host: {HOST}:{server.port}" in head and "Content-Type: application/json" in head


def test_the_environment_s_proxy_is_not_used(server: TlsServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    assert webhook_post(address=server.address, message={}, reach=server.reach()) == "200 OK"


def test_the_next_address_is_tried_where_one_does_not_answer(server: TlsServer) -> None:
    reach = server.reach(resolve=lambda host, port: ["127.0.0.2", "127.0.0.1"])
    assert webhook_post(address=server.address, message={}, reach=reach) == "200 OK"


def test_a_certificate_that_nobody_vouches_for_is_refused(server: TlsServer) -> None:
    assert "certificate" in failure(server.address, server.reach(trust=ssl.create_default_context()))


def test_a_certificate_of_another_name_is_refused(folder: Path) -> None:
    with tls_server(folder, named="other.example.org") as server:
        assert "certificate" in failure(server.address, server.reach())
        assert not server.heads


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (
            b"HTTP/1.1 302 Found\r\nLocation: https://10.0.0.1/\r\nContent-Length: 0\r\n\r\n",
            "redirects are not followed",
        ),
        (b"HTTP/1.1 404 Not Found\r\nContent-Length: 7\r\n\r\nse-cret", "404 Not Found"),
        (b"HTTP/1.1 599 se-cret\r\nContent-Length: 0\r\n\r\n", "answered 599"),
        (b"nonsense\r\n\r\n", "broke off"),
        (b"", "broke off"),
        (b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 200 + b"\r\n", "broke off"),
    ],
)
def test_what_is_no_success_is_told_in_our_words(server: TlsServer, answer: bytes, words: str) -> None:
    server.speak = lambda connection: connection.sendall(answer)
    assert words in failure(server.address, server.reach())
    assert len(server.heads) == 1


def test_an_endless_answer_is_read_no_further_than_its_bound(server: TlsServer) -> None:
    def speak(connection: ssl.SSLSocket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            connection.sendall(b"x" * 65_536)

    server.speak = speak
    assert webhook_post(address=server.address, message={}, reach=server.reach()) == "200 OK"


@pytest.mark.parametrize("said", [b"", b"HTTP/1.1 200 OK\r\nX-A"])
def test_who_never_ends_or_sends_a_byte_at_a_time_is_ended(server: TlsServer, said: bytes) -> None:
    gone: list[bool] = []

    def speak(connection: ssl.SSLSocket) -> None:
        connection.sendall(said)
        connection.settimeout(0.02)
        for _ in range(500):
            try:
                if connection.recv(1) == b"":
                    break
            except TimeoutError:
                connection.sendall(b"a" if said else b"")
        gone.append(True)

    server.speak = speak
    began_s = monotonic()
    assert "did not answer within 0.3 s" in failure(server.address, server.reach(patience_s=0.3))
    assert monotonic() - began_s < 2


def test_a_name_without_an_address_and_a_port_without_a_server_are_told(server: TlsServer) -> None:
    def unknown(host: str, port: int) -> list[str]:
        raise socket.gaierror

    assert "its name has no address" in failure(server.address, server.reach(resolve=unknown))
    assert "has no address" in failure("https://a..b/se-cret", Reach())
    closed = f"https://{HOST}:1025/se-cret"
    assert "broke off" in failure(closed, server.reach())


def test_addresses_are_told_once_each(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [(2, 1, 6, "", ("8.8.8.8", 443)), (2, 1, 6, "", ("8.8.8.8", 443)), (10, 1, 6, "", ("::1", 443, 0, 0))]
    monkeypatch.setattr(webhook.socket, "getaddrinfo", lambda *_, **__: rows)
    assert resolved("x", 443) == ["8.8.8.8", "::1"]
