from typing import Any

import pytest

from jobs.live.origin import is_own


def scope(origin: str | None, host: str, scheme: str = "ws") -> dict[str, Any]:
    headers = [(b"host", host.encode())] + ([(b"origin", origin.encode())] if origin is not None else [])
    return {"type": "websocket", "scheme": scheme, "headers": headers}


@pytest.mark.parametrize(
    ("origin", "host", "own"),
    [
        ("http://localhost", "localhost", True),
        ("http://localhost", "localhost:80", True),
        ("http://localhost:8000", "localhost:8000", True),
        ("http://[::1]:8000", "[::1]:8000", True),
        ("http://localhost:9000", "localhost:8000", False),
        ("http://localhost", "localhost:8000", False),
        ("https://localhost:8000", "localhost:8000", False),
        ("http://127.0.0.1:8000", "localhost:8000", False),
        ("http://evil.example", "evil.example", False),
        ("http://localhost:x", "localhost", False),
        ("http://[", "localhost", False),
        ("null", "localhost", False),
        ("", "", False),
        (None, "localhost", False),
    ],
)
def test_a_page_is_the_portal_s_own_by_scheme_host_and_port(origin: str | None, host: str, own: bool) -> None:
    assert is_own(scope(origin, host)) is own


@pytest.mark.parametrize(("scheme", "https"), [("wss", False), ("ws", True)])
def test_behind_tls_the_own_page_is_https(settings: Any, scheme: str, https: bool) -> None:
    settings.HTTPS = https
    assert is_own(scope("https://localhost", "localhost", scheme))
    assert not is_own(scope("http://localhost", "localhost", scheme))


@pytest.mark.parametrize("trusted", ["https://kv.example.org", "https://*.example.org"])
def test_a_trusted_origin_is_accepted_where_its_name_is_allowed(settings: Any, trusted: str) -> None:
    settings.ALLOWED_HOSTS, settings.CSRF_TRUSTED_ORIGINS = ["kv.example.org"], [trusted]
    assert is_own(scope("https://kv.example.org", "web:8000"))
    assert not is_own(scope("https://kv.example.org:9000", "web:8000"))
    settings.ALLOWED_HOSTS = ["localhost"]
    assert not is_own(scope("https://kv.example.org", "web:8000"))
