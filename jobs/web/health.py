"""For those who run the portal: is it up, is it ready, and its figures."""

import hmac
from collections.abc import Callable
from ipaddress import ip_address
from typing import TypeVar

from celery import current_app
from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse, HttpResponseForbidden, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from kombu.exceptions import OperationalError
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Gauge, generate_latest

from jobs.models import Run, RunState
from jobs.selectors.run import runs_active
from jobs.selectors.worker import workers_list

BROKER_TIMEOUT_S = 2
Answer = TypeVar("Answer")
NO_DATABASE = "the database does not answer"
FORWARDED_HEADERS = ("X-Forwarded-For", "X-Forwarded-Host", "X-Real-Ip", "Forwarded")


@login_not_required
@require_safe
@never_cache
def healthz(request: HttpRequest) -> HttpResponse:
    """The web process answers."""
    return HttpResponse("ok\n", content_type="text/plain")


@login_not_required
@require_safe
@never_cache
def readyz(request: HttpRequest) -> JsonResponse:
    """200 where a question would be answered; 503 says what is red."""
    worker = _asked(_worker)
    checks = {
        "database": "ok" if worker else NO_DATABASE,
        "broker": _broker(),
        "worker": worker or "not known without the database",
    }
    ready = all(verdict == "ok" for verdict in checks.values())
    return JsonResponse({"ready": ready, "checks": checks}, status=200 if ready else 503)


@login_not_required
@require_safe
@never_cache
def metrics(request: HttpRequest) -> HttpResponse:
    """Prometheus text, for this machine itself or with METRICS_TOKEN."""
    if not (_is_local(request) or _has_token(request)):
        return HttpResponseForbidden("metrics are for this machine, or need METRICS_TOKEN as a bearer token\n")
    registry = _asked(_registry)
    if registry is None:
        return HttpResponse(f"{NO_DATABASE}\n", content_type="text/plain", status=503)
    return HttpResponse(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)


def _asked(question: Callable[[], Answer]) -> Answer | None:
    """None where the database is away, or lacks the portal's tables."""
    try:
        return question()
    except DatabaseError:
        return None


def _broker() -> str:
    try:
        with current_app.connection_for_write(connect_timeout=BROKER_TIMEOUT_S) as broker:
            broker.ensure_connection(max_retries=1, interval_start=0, timeout=BROKER_TIMEOUT_S)
    except (OperationalError, OSError):
        return "the broker does not answer"
    return "ok"


def _worker() -> str:
    if any(worker.alive for worker in workers_list()):
        return "ok"
    return "no worker has been heard of within the last minute"


def _is_local(request: HttpRequest) -> bool:
    """The connection's own address, and nobody forwarded it."""
    if any(header in request.headers for header in FORWARDED_HEADERS):
        return False
    try:
        return ip_address(request.META.get("REMOTE_ADDR", "")).is_loopback
    except ValueError:
        return False


def _has_token(request: HttpRequest) -> bool:
    given = request.headers.get("Authorization", "")
    wanted = settings.METRICS_TOKEN
    return bool(wanted) and hmac.compare_digest(given.encode(), f"Bearer {wanted}".encode())


def _registry() -> CollectorRegistry:
    registry = CollectorRegistry()
    runs = Gauge("kvportal_runs", "Runs by state.", ["state"], registry=registry)
    for state in RunState:
        runs.labels(state=str(state)).set(Run.objects.filter(state=state).count())
    waiting = Gauge("kvportal_queue_depth", "Runs that wait, by device's worker.", ["worker"], registry=registry)
    alive = Gauge(
        "kvportal_worker_alive",
        "1 where the worker was heard of within the last minute.",
        ["worker"],
        registry=registry,
    )
    for worker in workers_list():
        waiting.labels(worker=worker.name).set(worker.waiting)
        alive.labels(worker=worker.name).set(worker.alive)
    active = Gauge("kvportal_runs_active", "Runs that wait or are measured.", registry=registry)
    active.set(runs_active().count())
    return registry
