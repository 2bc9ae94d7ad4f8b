"""What must hold before anything is started; each failure is one sentence with what to do."""

import os
import shutil
import socket
import tempfile
import time
from pathlib import Path

import redis
from django.db import DatabaseError, connection

from jobs.sizing.refusal import Refusal
from jobs.sizing.units import MIB
from kvportal.checks import DEVICE
from kvportal.supervisor.port_holder import holder_of

LEAST_FREE_BYTES = 200 * MIB
PORT_PATIENCE_S = 1.0  # the children of a portal killed a moment ago are still going
BROKER_PATIENCE_S = 5.0


def check_devices(names: list[str]) -> None:
    for name in names:
        if not DEVICE.fullmatch(name):
            raise Refusal(
                "bad_device",
                f"DEVICES={name[:40]} is not a device.",
                "Use cpu, cuda:N or cuda:0+cuda:1, or leave it out for every GPU.",
            )


def check_port(host: str, port: int) -> None:
    if not 1 <= port <= 65_535:
        raise Refusal("bad_port", f"{port} is not a port.", "Use one from 1 to 65535: PORT=8001 make run.")
    until_s = time.monotonic() + PORT_PATIENCE_S
    while (reason := _why_not(host, port)) != "":
        if time.monotonic() > until_s:
            raise Refusal("port_taken", reason, f"Use another: PORT={_next_free(host, port)} make run.")
        time.sleep(0.1)


def _why_not(host: str, port: int) -> str:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except PermissionError:
            return f"Port {port} needs more rights than this user has."
        except socket.gaierror:
            raise Refusal("bad_host", f"“{host}” is no address of this machine.", "HOST=127.0.0.1 is safe.") from None
        except OSError:
            return f"Port {port} on {host} is taken{holder_of(port)}."
    return ""


def _next_free(host: str, port: int) -> int:
    above = max(port, 8000)
    return next((other for other in range(above + 1, above + 50) if _why_not(host, other) == ""), above + 1)


def check_folder(folder: Path) -> None:
    """The data folder exists, can be written and has room."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as reason:
        raise Refusal(
            "data_not_writable",
            f"The data folder {folder} cannot be written: {os.strerror(reason.errno or 0)}.",
            "Make it writable, or use another: DATA=folder make run.",
        ) from None
    free_bytes = shutil.disk_usage(folder).free
    if free_bytes < LEAST_FREE_BYTES:
        raise Refusal(
            "disk_full",
            f"The disk of {folder} has {free_bytes // MIB} MiB left; the portal needs {LEAST_FREE_BYTES // MIB} MiB.",
            "Free some space, or use a folder on another disk: DATA=folder make run.",
        )


def check_database() -> None:
    try:
        connection.ensure_connection()
    except DatabaseError as reason:
        raise Refusal(
            "database_unreachable",
            f"The database cannot be reached: {_first_line(reason)}.",
            "Start it, or correct DATABASE_URL; without one the portal keeps a SQLite file in the data folder.",
        ) from None


def check_broker(redis_url: str, patience_s: float = BROKER_PATIENCE_S) -> None:
    """Ping it until it answers."""
    until_s = time.monotonic() + patience_s
    while True:
        try:
            with redis.Redis.from_url(redis_url, socket_connect_timeout=1, socket_timeout=1) as client:
                client.ping()
        except (redis.RedisError, ValueError) as reason:
            if time.monotonic() > until_s or isinstance(reason, ValueError):
                raise Refusal(
                    "broker_unreachable",
                    f"The Redis or Valkey that carries the wake-ups cannot be reached: {_first_line(reason)}.",
                    "Start it, correct REDIS_URL, or unset it: the portal then starts a private Valkey.",
                ) from None
            time.sleep(0.05)
        else:
            return


def _first_line(reason: Exception) -> str:
    return (str(reason).strip().splitlines() or [type(reason).__name__])[0].rstrip(".")
