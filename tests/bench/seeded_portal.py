"""A running portal with a member signed in, and its database at hand: `with seeded_portal() as portal`."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tests.operations.portal_process import PortalProcess
from tests.valkey import running_valkey

if TYPE_CHECKING:
    from jobs.models import Worker


@dataclass(frozen=True, kw_only=True)
class SeededPortal:
    process: PortalProcess
    address: str
    cookie: str


@contextmanager
def seeded_portal() -> Iterator[SeededPortal]:
    """This process uses the same database and broker, so it can act as a worker would."""
    with tempfile.TemporaryDirectory() as folder, running_valkey() as redis_url:
        os.environ |= {"DATA": folder, "REDIS_URL": redis_url, "DJANGO_SETTINGS_MODULE": "kvportal.settings"}
        with PortalProcess(Path(folder), REDIS_URL=redis_url) as process:
            process.address()
            cookie = _signed_in_member()
            yield SeededPortal(process=process, address=f"http://127.0.0.1:{process.port}", cookie=cookie)
            process.stop()


def _signed_in_member() -> str:
    import django

    django.setup()
    from django.test import Client

    from tests.factories import make_user

    client = Client()
    client.force_login(make_user("bench"), backend="django.contrib.auth.backends.ModelBackend")
    return f"sessionid={client.cookies['sessionid'].value}"


def this_worker() -> "Worker":
    from jobs.models import Worker

    return Worker.objects.get(device="cpu")
