"""The whole portal from one command: checks, starts in order, says its address, watches, stops in order."""

import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.db import connection

from jobs.models.worker import queue_name
from jobs.services.account import setup_link_make
from jobs.sizing.refusal import Refusal
from kvportal.supervisor import broker, lock, preflight, readiness, service
from kvportal.supervisor.child import Child
from kvportal.supervisor.children import POLL_S, Children
from kvportal.supervisor.devices import devices_here
from kvportal.supervisor.static_files import collect_if_changed

READY_PATIENCE_S = 60.0


class Part(StrEnum):
    """What one `up` may start alone, where another machine or container starts the rest."""

    WEB = "web"
    DEVICES = "devices"
    INSPECT = "inspect"
    SWEEP = "sweep"


@dataclass(frozen=True, kw_only=True)
class Portal:
    host: str
    port: int
    parts: frozenset[Part]
    say: Callable[[str], None]
    announce: Callable[[str], None]

    def run(self) -> None:
        """Until SIGINT or SIGTERM; raises Refusal when it cannot start or go on."""
        stop = threading.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: stop.set())
        preflight.check_folder(settings.DATA_DIR)
        if Part.DEVICES in self.parts:
            preflight.check_devices(settings.DEVICES)
        with self._lock():
            children = Children(logs_dir=_logs_dir(), say=self.say)
            try:
                self._start(children, stop)
                while not stop.wait(POLL_S):
                    children.watch()
                self.say("Stopping ...")
            finally:
                children.stop()

    def _lock(self) -> AbstractContextManager[None]:
        whole = self.parts == frozenset(Part)
        return lock.held(settings.DATA_DIR, self._address()) if whole else nullcontext()

    def _start(self, children: Children, stop: threading.Event) -> None:
        if Part.WEB in self.parts:
            preflight.check_port(self.host, self.port)
        with ThreadPoolExecutor(1) as beside:
            workers = beside.submit(self._workers)  # a GPU is found out in seconds: meanwhile the rest
            preflight.check_database()
            redis_url = self._redis_url(children)
            environment = {"DATA": str(settings.DATA_DIR), "REDIS_URL": redis_url, "PYTHONUNBUFFERED": "1"}
            if Part.WEB in self.parts:
                call_command("migrate", interactive=False, verbosity=0)
                connection.close()
                collect_if_changed()
                web = service.web(self.host, self.port, trusted_proxies=settings.FORWARDED_ALLOW_IPS)
                children.start(web, environment)
            for wanted in workers.result():
                children.start(wanted, environment)
        if self._wait_until_ready(children, redis_url, stop):
            if Part.SWEEP in self.parts:
                children.start(service.sweep(), environment)
            self.announce(f"KV Portal: {self._address()}{_setup_path()}" if Part.WEB in self.parts else "Ready.")

    def _redis_url(self, children: Children) -> str:
        if settings.REDIS_URL:
            preflight.check_broker(settings.REDIS_URL)
            return str(settings.REDIS_URL)
        path = broker.socket_path(settings.DATA_DIR)
        children.start_broker(broker.valkey(path))
        url = f"unix://{path}?db=0"
        preflight.check_broker(url)
        return url

    def _workers(self) -> list[service.Service]:
        workers = []
        if Part.DEVICES in self.parts:
            workers += [service.device_worker(device, queue_name(device)) for device in devices_here()]
        if Part.INSPECT in self.parts:
            workers.append(service.inspect_worker())
        return workers

    def _wait_until_ready(self, children: Children, redis_url: str, stop: threading.Event) -> bool:
        """False when asked to stop before; who is still silent in the end is named, and the portal goes on."""
        until_s = time.monotonic() + READY_PATIENCE_S
        web_silent = Part.WEB in self.parts
        silent = children.all
        while not stop.wait(POLL_S / 2):
            children.watch()
            silent = readiness.silent_workers(silent, redis_url)
            web_silent = web_silent and not readiness.web_answers(self.host, self.port)
            if not silent and not web_silent:
                return True
            if time.monotonic() > until_s:
                self._name_the_silent(children, silent, web_silent=web_silent)
                return True
        return False

    def _name_the_silent(self, children: Children, silent: list[Child], *, web_silent: bool) -> None:
        """A portal without a page is none; without a worker it can still show what was measured."""
        for child in children.all:
            if web_silent and child.service.name == "web":
                raise Refusal("web_silent", "The web server does not answer.", child.last_words())
            if child in silent:
                self.say(f"{child.service.subject} does not answer yet. {child.last_words()}")

    def _address(self) -> str:
        host = readiness.reachable_host(self.host)
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}/"


def _setup_path() -> str:
    """The one-time link that makes the first account, while there is none."""
    if get_user_model().objects.exists():
        return ""
    path = f"setup/{setup_link_make()}/"
    connection.close()
    return path


def _logs_dir() -> Path:
    folder: Path = settings.DATA_DIR / "logs"
    folder.mkdir(exist_ok=True)
    return folder
