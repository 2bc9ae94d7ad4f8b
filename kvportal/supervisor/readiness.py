"""When the portal may say its address: the web server answers, and so does every worker."""

import http.client
import socket

from celery import Celery
from django.conf import settings

from kvportal.env import celery_broker
from kvportal.supervisor.child import Child

PING_PATIENCE_S = 0.4
ANYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104  (an address to ask at, for one to listen on)


def reachable_host(host: str) -> str:
    return ANYWHERE.get(host, host)


def web_answers(host: str, port: int) -> bool:
    connection = http.client.HTTPConnection(reachable_host(host), port, timeout=2)
    try:
        connection.request("GET", "/healthz", headers={"Host": _known_name()})
        return connection.getresponse().status == http.HTTPStatus.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _known_name() -> str:
    """A name that the portal answers to, whatever ALLOWED_HOSTS holds."""
    allowed = [name.lstrip(".") for name in settings.ALLOWED_HOSTS if name != "*"]
    return allowed[0] if allowed else "localhost"


def silent_workers(children: list[Child], redis_url: str) -> list[Child]:
    """The workers among them that do not answer a ping."""
    nodes = {f"{child.service.name}@{socket.gethostname()}": child for child in children if child.service.is_worker}
    if not nodes:
        return []
    with Celery("kvportal", broker=celery_broker(redis_url), set_as_current=False) as app:
        answers = app.control.ping(destination=list(nodes), timeout=PING_PATIENCE_S, limit=len(nodes))
    answered = {node for answer in answers for node in answer}
    return [child for node, child in nodes.items() if node not in answered]
