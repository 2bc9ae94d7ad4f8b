"""Whose pages may open a websocket: the portal's own, to the port, and those of CSRF_TRUSTED_ORIGINS.

A browser sends the portal's cookie along from every page of the same host, whatever its port.
"""

from typing import Any
from urllib.parse import SplitResult, urlsplit

from channels.security.websocket import WebsocketDenier
from django.conf import settings
from django.http.request import validate_host
from django.utils.http import is_same_domain

PORTS = {"http": 80, "https": 443}
HERE = ["localhost", "127.0.0.1", "[::1]"]  # what Django answers to where DEBUG is on and no name is allowed


class OwnOrigin:
    def __init__(self, application: Any) -> None:
        self.application = application

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> Any:
        application = self.application if is_own(scope) else WebsocketDenier()
        return await application(scope, receive, send)


def is_own(scope: dict[str, Any]) -> bool:
    headers = {name: value.decode("latin1") for name, value in scope.get("headers", [])}
    origin = _parts(headers.get(b"origin", ""))
    if origin is None or not _is_allowed(origin):
        return False
    scheme = "https" if settings.HTTPS or scope.get("scheme") in ("wss", "https") else "http"
    own = _parts(f"{scheme}://{headers.get(b'host', '')}")
    return _key(origin) == _key(own) or any(_is_trusted(origin, pattern) for pattern in settings.CSRF_TRUSTED_ORIGINS)


def _parts(origin: str) -> SplitResult | None:
    try:
        found = urlsplit(origin)
        _ = found.port  # raises for a port that is none
    except ValueError:
        return None
    return found if found.scheme in PORTS and found.hostname else None


def _key(origin: SplitResult | None) -> tuple[str, str | None, int] | None:
    if origin is None:
        return None
    return origin.scheme, origin.hostname, PORTS[origin.scheme] if origin.port is None else origin.port


def _is_allowed(origin: SplitResult) -> bool:
    host = origin.hostname or ""
    allowed = settings.ALLOWED_HOSTS or (HERE if settings.DEBUG else [])
    return validate_host(f"[{host}]" if ":" in host else host, allowed)


def _is_trusted(origin: SplitResult, pattern: str) -> bool:
    """As Django reads CSRF_TRUSTED_ORIGINS: exactly, or any name below `https://*.example.org`."""
    if "*" not in pattern:
        return _key(origin) == _key(_parts(pattern))
    trusted = urlsplit(pattern)
    return origin.scheme == trusted.scheme and is_same_domain(origin.netloc, trusted.netloc.lstrip("*"))
