"""A TLS server on this machine, with a certificate of its own, that keeps what it was sent."""

import json
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from jobs.services.webhook import Reach

HOST = "hooks.example.org"
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"
Speak = Callable[[ssl.SSLSocket], None]


@dataclass(kw_only=True)
class TlsServer:
    """port; `heads` and `bodies` of the requests that came, `names` that were asked for by SNI, and how it answers."""

    port: int
    trust: ssl.SSLContext
    heads: list[str] = field(default_factory=list)
    bodies: list[Any] = field(default_factory=list)
    names: list[str | None] = field(default_factory=list)
    speak: Speak = lambda connection: connection.sendall(ANSWER)

    @property
    def address(self) -> str:
        return f"https://{HOST}:{self.port}/services/T0/se-cret?key=very-se-cret"

    def reach(self, **changes: Any) -> Reach:
        """That knows this server alone, and lets loopback in."""
        given = {"resolve": lambda host, port: ["127.0.0.1"], "allowed": lambda address: True, "trust": self.trust}
        return Reach(**(given | {"patience_s": 5.0} | changes))


@contextmanager
def tls_server(folder: Path, *, named: str = HOST) -> Iterator[TlsServer]:
    certificate = _certificate(folder, named)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    listening = socket.create_server(("127.0.0.1", 0))
    server = TlsServer(port=listening.getsockname()[1], trust=ssl.create_default_context(cafile=str(certificate)))
    context.sni_callback = lambda _, name, __: server.names.append(name)
    thread = threading.Thread(target=_serve, args=(server, listening, context), daemon=True)
    thread.start()
    yield server
    listening.shutdown(socket.SHUT_RDWR)
    listening.close()
    thread.join(5)


def _serve(server: TlsServer, listening: socket.socket, context: ssl.SSLContext) -> None:
    while True:
        try:
            plain, _ = listening.accept()
        except OSError:
            return
        with suppress(OSError), plain, context.wrap_socket(plain, server_side=True) as connection:
            head, body = _read(connection)
            server.heads.append(head)
            server.bodies.append(json.loads(body))
            server.speak(connection)


def _read(connection: ssl.SSLSocket) -> tuple[str, bytes]:
    data = b""
    while b"\r\n\r\n" not in data:
        data += connection.recv(4096)
    head, _, body = data.partition(b"\r\n\r\n")
    lengths = [line.split(b":")[1] for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")]
    while len(body) < int(lengths[0]):
        body += connection.recv(4096)
    return head.decode(), body


def _certificate(folder: Path, named: str) -> Path:
    """Certificate and key in one file; it trusts itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, named)])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(named)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = folder / f"{named}.pem"
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.write_bytes(made.public_bytes(serialization.Encoding.PEM) + secret)
    return path
