"""Reads the environment once, refuses a bad value at once, and derives what follows from it."""

import contextlib
import secrets
from pathlib import Path

import environ

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
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        fresh = folder / f"secret-key.{secrets.token_hex(4)}"
        fresh.touch(mode=0o600)
        fresh.write_text(secrets.token_urlsafe(50))
        with contextlib.suppress(FileExistsError):  # the first of two starters wins
            path.hardlink_to(fresh)
        fresh.unlink()
    return path.read_text().strip()


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
