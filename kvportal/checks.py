"""What `manage.py check` finds in the settings; each hint says what to change."""

import os
import re
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, register
from django.core.checks import Warning as Advice
from django.http.request import validate_host

REDIS_SCHEMES = {"", "redis", "rediss", "unix"}
DEVICE = re.compile(r"cpu|cuda:\d{1,2}(,cuda:\d{1,2})*")
LEAST_SECRET_CHARACTERS = 50
LOOPBACK = {"127.0.0.1", "::1", "localhost"}


@register(Tags.compatibility)
def redis_url(**_: Any) -> list[CheckMessage]:
    url = urlsplit(settings.REDIS_URL)
    reachable = url.path if url.scheme == "unix" else url.hostname
    if url.scheme in REDIS_SCHEMES and (reachable or not settings.REDIS_URL):
        return []
    return [
        Error(
            "REDIS_URL is not the address of a Redis or Valkey.",
            hint="Write it as redis://host:6379/0 or unix:///path?db=0, or leave it out for a private Valkey.",
            id="kvportal.E001",
        )
    ]


@register(Tags.compatibility)
def data_folder(**_: Any) -> list[CheckMessage]:
    folder: Path = settings.DATA_DIR
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return []
    except OSError as reason:
        return [
            Error(
                f"The data folder {folder} cannot be written: {os.strerror(reason.errno or 0)}.",
                hint="Make it writable for this user, or name another in DATA.",
                id="kvportal.E002",
            )
        ]


@register(Tags.compatibility)
def devices(**_: Any) -> list[CheckMessage]:
    named = [*settings.DEVICES, *([settings.KVPORTAL_DEVICE] if settings.KVPORTAL_DEVICE else [])]
    return [
        Error(
            f"“{name[:40]}” is not a device.",
            hint="Write cpu, cuda:N or cuda:0+cuda:1 in DEVICES and KVPORTAL_DEVICE, or leave them out.",
            id="kvportal.E003",
        )
        for name in named
        if not DEVICE.fullmatch(name)
    ]


@register(Tags.security)
def secret_key(**_: Any) -> list[CheckMessage]:
    if not settings.HTTPS or len(settings.SECRET_KEY) >= LEAST_SECRET_CHARACTERS:
        return []
    return [
        Error(
            "SECRET_KEY is short, and who guesses it can sign in as anybody.",
            hint=f"Give it at least {LEAST_SECRET_CHARACTERS} random characters, or leave it out: one is then made.",
            id="kvportal.E004",
        )
    ]


@register(Tags.security)
def pool(**_: Any) -> list[CheckMessage]:
    """The solo pool measures in the worker's own thread: it ignores time limits and does not answer meanwhile."""
    if getattr(settings, "CELERY_WORKER_POOL", "prefork") == "prefork":
        return []
    return [
        Error(
            "The workers' pool is not prefork.",
            hint="Leave CELERY_WORKER_POOL out: in another pool a cancelled or overlong run cannot be ended.",
            id="kvportal.E005",
        )
    ]


@register(Tags.security)
def hosts(**_: Any) -> list[CheckMessage]:
    if settings.HOST in LOOPBACK or set(settings.ALLOWED_HOSTS) - LOOPBACK - {"[::1]"}:
        return []
    return [
        Advice(
            f"The portal listens on {settings.HOST} and answers only to the names of this machine.",
            hint="Name the host that people type in ALLOWED_HOSTS.",
            id="kvportal.W001",
        )
    ]


@register(Tags.security)
def public_url(**_: Any) -> list[CheckMessage]:
    """A link that names this machine alone is none for whoever reads it elsewhere."""
    if settings.HOST in LOOPBACK or urlsplit(settings.PUBLIC_URL).hostname not in LOOPBACK:
        return []
    return [
        Advice(
            f"The portal listens on {settings.HOST}, and the links that it sends begin with {settings.PUBLIC_URL}.",
            hint="Give the address that people type as PUBLIC_URL, such as https://kv.example.org.",
            id="kvportal.W002",
        )
    ]


@register(Tags.security)
def public_host(**_: Any) -> list[CheckMessage]:
    """A link that was handed out is to be answered."""
    host = urlsplit(settings.PUBLIC_URL).hostname or ""
    if host in LOOPBACK or validate_host(f"[{host}]" if ":" in host else host, settings.ALLOWED_HOSTS):
        return []
    return [
        Advice(
            f"The links that it sends begin with {settings.PUBLIC_URL}, to which the portal does not answer.",
            hint=f"Add {host} to ALLOWED_HOSTS.",
            id="kvportal.W003",
        )
    ]
