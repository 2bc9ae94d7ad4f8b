"""A running portal with a member signed in, and its database at hand: one for all benchmarks of a run."""

import atexit
import os
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from tests.operations.portal_process import PortalProcess, wait_until
from tests.valkey import running_valkey

if TYPE_CHECKING:
    from jobs.models import Worker

PROBE_PATIENCE_S = 180.0


@dataclass(frozen=True, kw_only=True)
class SeededPortal:
    process: PortalProcess
    address: str
    cookie: str


@cache
def seeded_portal() -> SeededPortal:
    """This process uses the same database and broker, so it can act as a worker would."""
    stack = ExitStack()
    atexit.register(stack.close)
    folder = stack.enter_context(tempfile.TemporaryDirectory())
    redis_url = stack.enter_context(running_valkey())
    process = stack.enter_context(PortalProcess(Path(folder), REDIS_URL=redis_url))
    process.address()
    _use_its_database(folder, redis_url)
    # What a worker asks itself at its start would slow down what is measured.
    wait_until(lambda: bool(this_worker().applicable), PROBE_PATIENCE_S)
    return SeededPortal(process=process, address=f"http://127.0.0.1:{process.port}", cookie=_signed_in_member())


def _use_its_database(folder: str, redis_url: str) -> None:
    os.environ |= {"DATA": folder, "REDIS_URL": redis_url, "DJANGO_SETTINGS_MODULE": "kvportal.settings"}
    import django

    django.setup()


def _signed_in_member() -> str:
    from django.contrib.auth.models import User
    from django.test import Client

    from tests.browser import demo

    client = Client()
    user = User.objects.get(username=demo.member()["username"])
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return f"sessionid={client.cookies['sessionid'].value}"


def this_worker() -> "Worker":
    """The one that really measures here."""
    from jobs.models import Worker
    from jobs.models.worker import worker_name

    return Worker.objects.get(name=worker_name("cpu"))
