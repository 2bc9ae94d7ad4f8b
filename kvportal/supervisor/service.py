"""What is to be kept running: a command, its environment, how it is stopped."""

import signal
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field

from kvportal.celery import INSPECT_QUEUE

MANAGE = (sys.executable, "manage.py")
CELERY = (sys.executable, "-m", "celery", "-A", "kvportal", "worker")
CELERY_OPTIONS = ("-c", "1", "-P", "prefork", "--without-gossip", "--without-mingle", "--loglevel", "INFO")
SKIP_CHECKS = {"CELERY_SKIP_CHECKS": "true"}  # they load every page, for a second, in a process that serves none
SWEEP_EVERY_S = 30
NO_PROXIES = ("--no-proxy-headers",)
UVICORN_GRACE_S = 4  # the whole portal stops within 6 s


@dataclass(frozen=True, kw_only=True)
class Service:
    """`title` is what a sentence says; a vital service that will not stay up ends the portal."""

    name: str
    title: str
    argv: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    stop_signal: signal.Signals = signal.SIGTERM
    vital: bool = False

    @property
    def subject(self) -> str:
        """The title at the head of a sentence."""
        return self.title[0].upper() + self.title[1:]

    @property
    def is_worker(self) -> bool:
        return "celery" in self.argv


def web(host: str, port: int, *, trusted_proxies: str = "") -> Service:
    """X-Forwarded-For is believed of `trusted_proxies` alone: whoever may write it evades the sign-in limit."""
    proxies = ("--proxy-headers", "--forwarded-allow-ips", trusted_proxies) if trusted_proxies else NO_PROXIES
    options = ("--host", host, "--port", str(port), "--timeout-graceful-shutdown", str(UVICORN_GRACE_S))
    return Service(
        name="web",
        title="the web server",
        argv=(
            sys.executable,
            "-m",
            "uvicorn",
            "kvportal.asgi:application",
            *options,
            *proxies,
            "--no-access-log",
            "--lifespan",
            "off",
        ),
        vital=True,
    )


def device_worker(device: str, queue: str) -> Service:
    """One process, one measurement at a time: two on a device would measure each other."""
    name = f"device-{device.replace(':', '-').replace(',', '+')}"
    return Service(
        name=name,
        title=f"the worker of {device}",
        argv=(*CELERY, "-Q", queue, "-n", f"{name}@%h", *CELERY_OPTIONS),
        environment={"KVPORTAL_DEVICE": device, **SKIP_CHECKS},
        stop_signal=signal.SIGQUIT,
    )


def inspect_worker() -> Service:
    return Service(
        name="inspect",
        title="the worker that inspects models",
        argv=(*CELERY, "-Q", INSPECT_QUEUE, "-n", "inspect@%h", *CELERY_OPTIONS),
        environment=SKIP_CHECKS,
        stop_signal=signal.SIGQUIT,
    )


def sweep() -> Service:
    return Service(
        name="sweep",
        title="the sweep for lost runs",
        argv=(*MANAGE, "sweep", "--every", str(SWEEP_EVERY_S), "--skip-checks"),
    )
