"""A message to a webhook: one POST over https, to an address that was checked, with an end.

The name is resolved once, every address that it has must be public, and the connection goes to the address that was
checked while certificate, SNI and Host are the name's: a name that resolves otherwise a moment later changes nothing.
A proxy would resolve the name itself, so those of the environment are not used. No redirect is followed.
http.client does no more than that, and logs nothing: other clients log the whole address, which is a secret.
"""

import json
import socket
import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from http.client import HTTPException, HTTPSConnection
from threading import Timer
from typing import Any

from jobs.services.webhook_address import Target, is_public, webhook_target

PATIENCE_S = 10.0
MOST_ANSWER_BYTES = 64 * 1024
AGENT = "KV-Portal"


class WebhookFailed(Exception):
    """Why, in a sentence that names the host and never the path."""


def resolved(host: str, port: int) -> list[str]:
    """Every address of a name, without repeats; raises OSError."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except UnicodeError as error:  # a label that is empty or too long
        raise OSError(str(error)) from None
    return list(dict.fromkeys(str(one[4][0]) for one in found))


@dataclass(frozen=True, kw_only=True)
class Reach:
    """What a webhook is reached by: handed in, so that a test can let in its own server and nothing else can."""

    resolve: Callable[[str, int], list[str]] = resolved
    allowed: Callable[[str], bool] = is_public
    trust: ssl.SSLContext = field(default_factory=ssl.create_default_context)
    patience_s: float = PATIENCE_S


def webhook_post(*, address: str, message: Mapping[str, Any], reach: Reach | None = None) -> str:
    """What came back, such as “200 OK”. Raises WebhookFailed, and Refusal for an address that is none."""
    reach = reach or Reach()
    target = webhook_target(address)
    body = json.dumps(message, ensure_ascii=False).encode()
    until_s = time.monotonic() + reach.patience_s
    try:
        with _connected(target, _checked(target, reach), reach, until_s) as connection, _ended_at(until_s, connection):
            status = _asked(connection, target, body)
            if time.monotonic() >= until_s:
                raise TimeoutError
    except TimeoutError:
        raise WebhookFailed(f"{target.host} did not answer within {reach.patience_s:g} s.") from None
    except ssl.SSLCertVerificationError as error:
        raise WebhookFailed(f"The certificate of {target.host} does not hold: {error.verify_message}.") from None
    except (OSError, HTTPException) as error:
        late = time.monotonic() >= until_s
        how = f"did not answer within {reach.patience_s:g} s" if late else f"broke off ({type(error).__name__})"
        raise WebhookFailed(f"{target.host} {how}.") from None
    return _judged(target, status)


def _checked(target: Target, reach: Reach) -> list[str]:
    try:
        addresses = reach.resolve(target.host, target.port)
    except OSError:
        raise WebhookFailed(f"{target.host} is not known: its name has no address.") from None
    if not addresses or not all(map(reach.allowed, addresses)):
        raise WebhookFailed(f"{target.host} is not at a public address, and only such are told.")
    return addresses


class _Connection(HTTPSConnection):
    """Over a socket to an address that was checked, under the name that it was asked for."""

    auto_open = 0  # else it would look the name up again by itself

    def __init__(self, target: Target, sock: socket.socket, trust: ssl.SSLContext) -> None:
        super().__init__(target.host, target.port, context=trust)
        self.sock = trust.wrap_socket(sock, server_hostname=target.host)


@contextmanager
def _connected(target: Target, addresses: list[str], reach: Reach, until_s: float) -> Iterator[HTTPSConnection]:
    with _reached(target, addresses, until_s) as sock, closing(_Connection(target, sock, reach.trust)) as connection:
        yield connection


def _reached(target: Target, addresses: list[str], until_s: float) -> socket.socket:
    """At the first address that answers."""
    for address in addresses[:-1]:
        try:
            return _dialled(address, target.port, until_s)
        except OSError:
            continue
    return _dialled(addresses[-1], target.port, until_s)


def _dialled(address: str, port: int, until_s: float) -> socket.socket:
    sock = socket.create_connection((address, port), timeout=_left_s(until_s))
    sock.settimeout(_left_s(until_s))  # of the handshake, and of each read
    return sock


def _left_s(until_s: float) -> float:
    return max(0.001, until_s - time.monotonic())


@contextmanager
def _ended_at(until_s: float, connection: HTTPSConnection) -> Iterator[None]:
    """A timeout is of one read; whoever sends a byte at a time is ended all the same."""
    timer = Timer(max(0.0, until_s - time.monotonic()), _shut, [connection.sock])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _shut(sock: socket.socket) -> None:
    """Below TLS, which another thread is reading from."""
    try:
        socket.socket.shutdown(sock, socket.SHUT_RDWR)
    except OSError:
        return  # it ended by itself


def _asked(connection: HTTPSConnection, target: Target, body: bytes) -> int:
    headers = {"Host": target.authority, "Content-Type": "application/json", "User-Agent": AGENT, "Connection": "close"}
    connection.request("POST", target.path, body=body, headers=headers)
    response = connection.getresponse()
    response.read(MOST_ANSWER_BYTES)  # and dropped: it may say anything
    return int(response.status)


def _judged(target: Target, status: int) -> str:
    known = {one.value: one.phrase for one in HTTPStatus}
    answer = f"{status} {known[status]}" if status in known else str(status)
    if 200 <= status < 300:
        return answer
    more = "; redirects are not followed" if 300 <= status < 400 else ""
    raise WebhookFailed(f"{target.host} answered {answer}{more}.")
