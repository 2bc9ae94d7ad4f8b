"""Reads the environment once, refuses a bad value at once, and derives what follows from it."""

import contextlib
import os
import re
import secrets
import warnings
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import environ
from django.core.exceptions import ImproperlyConfigured

from jobs.sizing.refusal import Refusal

env = environ.Env()
BASE_DIR = Path(__file__).resolve().parent.parent


def data_dir() -> Path:
    """Where the portal keeps its state: DATA, else var/ beside manage.py."""
    folder = Path(env.str("DATA", default="") or BASE_DIR / "var").expanduser()
    return folder if folder.is_absolute() else BASE_DIR / folder


def secret_key(folder: Path) -> str:
    """SECRET_KEY, else one made once and kept in the data folder, readable by its owner alone."""
    given = str(env.str("SECRET_KEY", default=""))
    if given:
        return given
    path = folder / "secret-key"
    try:
        if not path.exists() or not path.read_text().strip():
            path.unlink(missing_ok=True)  # an empty one, as a full disk leaves it
            make_secret_key(path)
        return path.read_text().strip()
    except OSError as reason:
        raise Refusal(
            "data_not_writable",
            f"The data folder {folder} cannot be used: {os.strerror(reason.errno or 0)}.",
            "Make it readable and writable for this user, or use another: DATA=folder make run.",
        ) from None


def make_secret_key(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    fresh.touch(mode=0o600)
    fresh.write_text(secrets.token_urlsafe(50))
    with contextlib.suppress(FileExistsError):  # the first of two starters wins
        path.hardlink_to(fresh)
    fresh.unlink()


def number(name: str, *, default: int) -> int:
    """A whole number of the environment; raises Refusal("bad_setting")."""
    given = str(env.str(name, default="")).strip()
    if not given:
        return default
    if not (given.isascii() and given.isdigit()):
        raise Refusal("bad_setting", f"{name}={given[:40]} is not a whole number.", f"Leave it out for {default}.")
    return int(given)


def public_url(*, host: str, port: int) -> str:
    """PUBLIC_URL without its last slash, else where `up` listens; raises Refusal("bad_setting")."""
    given = str(env.str("PUBLIC_URL", default="")).strip().rstrip("/")
    if not given:
        reachable = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104  (to be asked at, not listened on)
        return f"http://{f'[{reachable}]' if ':' in reachable else reachable}:{port}"
    if not re.fullmatch(r"https?://([\w.-]+|\[[0-9a-fA-F:]+\])(:\d{1,5})?", given, re.ASCII):
        raise Refusal("bad_setting", "PUBLIC_URL is not an address.", "Write it as https://kv.example.org.")
    return given


def email(url: str) -> dict[str, Any]:
    """EMAIL_URL as Django's EMAIL_… settings, empty where there is none; raises Refusal("bad_setting")."""
    if not url:
        return {}
    try:
        found: dict[str, Any] = environ.Env.email_url_config(url)
    except (ImproperlyConfigured, ValueError, KeyError):
        found = {}
    if not found.get("EMAIL_HOST") and "smtp" in str(found.get("EMAIL_BACKEND", "smtp")):
        raise Refusal(
            "bad_setting",
            "EMAIL_URL is not the address of a mail server.",
            "Write it as smtp+tls://user:password@host:587, smtp+ssl://…:465 or, without encryption, smtp://host:25; "
            "or leave it out to mail nothing.",
        )
    return {name: value for name, value in found.items() if name.startswith("EMAIL_") and value is not None}


def rate(name: str, *, default: str) -> str:
    """How often something may be done, `120/minute`; raises Refusal("bad_setting")."""
    given = str(env.str(name, default="")).strip() or default
    most, _, unit = given.partition("/")
    if not (most.isascii() and most.isdigit() and int(most) > 0 and unit in {"second", "minute", "hour"}):
        raise Refusal(
            "bad_setting", f"{name}={given[:40]} is not a rate.", f"Write it as {default}, or per second or hour."
        )
    return given


def database(folder: Path) -> dict[str, Any]:
    """DATABASE_URL as Django wants it, else a SQLite file in the data folder; raises Refusal("bad_database_url")."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it only warns of what is refused below
            found: dict[str, Any] = env.db("DATABASE_URL", default=f"sqlite:///{folder / 'portal.sqlite3'}")
    except (ImproperlyConfigured, ValueError, KeyError):
        found = {}
    if not str(found.get("ENGINE", "")).startswith("django.db.backends.") or not found.get("NAME"):
        raise Refusal(
            "bad_database_url",
            "DATABASE_URL is not the address of a database.",
            "Write it as postgres://user:password@host:5432/name, or leave it out for a SQLite file.",
        )
    return found


def celery_broker(redis_url: str) -> str:
    """Celery names a unix socket otherwise than redis-py; without a Redis a command needs no broker."""
    if not redis_url:
        return "memory://"
    if redis_url.startswith("unix://"):
        path, _, query = redis_url.removeprefix("unix://").partition("?")
        database = query.removeprefix("db=") if query.startswith("db=") else "0"
        return f"redis+socket://{path}?virtual_host={database}"
    return redis_url


def channel_layers(redis_url: str) -> dict[str, dict[str, object]]:
    """redis-py 8 times a quiet socket out after 5 s, which channels_redis takes for a failure: no timeout."""
    if not redis_url:
        return {"default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}}
    host = {"address": redis_url, "socket_timeout": None}
    return {"default": {"BACKEND": "channels_redis.core.RedisChannelLayer", "CONFIG": {"hosts": [host]}}}


def caches(redis_url: str) -> dict[str, dict[str, object]]:
    """What all processes count together lies in the Redis; without one each counts for itself."""
    if not redis_url:
        return {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
    patience = {"socket_timeout": 1.0, "socket_connect_timeout": 1.0}
    backend = "django.core.cache.backends.redis.RedisCache"
    return {"default": {"BACKEND": backend, "LOCATION": redis_url, "KEY_PREFIX": "kvportal", "OPTIONS": patience}}


def hours(name: str, *, default: str) -> tuple[int, int] | None:
    """Of a day, `1-5`: from the first on until the second begins, over midnight too; None for `off`.

    Raises Refusal("bad_setting").
    """
    given = str(env.str(name, default="")).strip() or default
    if given == "off":
        return None
    begin, _, end = given.partition("-")
    known = {str(hour): hour for hour in range(25)}
    if begin not in known or end not in known or known[begin] == 24 or known[begin] == known[end]:
        raise Refusal("bad_setting", f"{name}={given[:40]} is not a span of hours.", f"Write it as {default}, or off.")
    return known[begin], known[end]


def time_zone(name: str, *, default: str) -> str:
    """As the time zone database names it, `Europe/Berlin`; raises Refusal("bad_setting")."""
    given = str(env.str(name, default="")).strip() or default
    try:
        return ZoneInfo(given).key
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise Refusal(
            "bad_setting", f"{name}={given[:40]} is not a time zone.", "Write it as UTC or Europe/Berlin."
        ) from None
