from typing import Any

import pytest
from celery import current_app
from django.db import OperationalError, connection
from django.test import Client
from django.urls import reverse

from jobs.models import Worker
from jobs.web import health
from tests.browser import demo
from tests.factories import make_worker

pytestmark = pytest.mark.django_db
HEALTHZ, READYZ, METRICS = (reverse(name) for name in ("healthz", "readyz", "metrics"))


def test_the_web_process_is_healthy_for_anybody(client: Client) -> None:
    answer = client.get(HEALTHZ)
    assert (answer.status_code, answer.content) == (200, b"ok\n")


def test_it_is_ready_with_a_database_a_broker_and_a_worker(client: Client) -> None:
    make_worker()
    answer = client.get(READYZ)
    assert answer.status_code == 200
    assert answer.json() == {"ready": True, "checks": {"database": "ok", "broker": "ok", "worker": "ok"}}


def test_without_a_worker_it_is_not_ready_and_says_so(client: Client) -> None:
    answer = client.get(READYZ)
    assert answer.status_code == 503
    assert answer.json()["checks"]["worker"] == "no worker has been heard of within the last minute"


def test_without_a_database_it_is_not_ready_and_says_so(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> Any:
        raise OperationalError("password=secret")

    monkeypatch.setattr(health, "workers_list", broken)
    answer = client.get(READYZ)
    assert answer.status_code == 503
    assert answer.json()["checks"]["database"] == "the database does not answer"
    assert b"secret" not in answer.content


@pytest.mark.parametrize(("address", "kind"), [(READYZ, "application/json"), (METRICS, "text/plain")])
def test_a_database_without_the_portal_s_tables_is_none(client: Client, address: str, kind: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE {Worker._meta.db_table} RENAME TO elsewhere")
    answer = client.get(address)
    assert (answer.status_code, answer["Content-Type"]) == (503, kind)
    assert "the database does not answer" in answer.content.decode()


def test_without_a_broker_it_is_not_ready_and_says_so(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    make_worker()
    unreachable = current_app.connection_for_write("redis://127.0.0.1:1/0", connect_timeout=1)
    monkeypatch.setattr(current_app, "connection_for_write", lambda **_: unreachable)
    answer = client.get(READYZ)
    assert answer.status_code == 503
    assert answer.json()["checks"]["broker"] == "the broker does not answer"


def test_metrics_count_runs_by_state_and_queues_by_worker(client: Client) -> None:
    demo.begin()
    demo.submit()
    text = client.get(METRICS).content.decode()
    assert 'kvportal_runs{state="running"} 1.0' in text
    assert 'kvportal_runs{state="queued"} 1.0' in text
    assert 'kvportal_queue_depth{worker="box:cpu"} 1.0' in text
    assert 'kvportal_worker_alive{worker="box:cpu"} 1.0' in text


@pytest.mark.parametrize("address", ["127.0.0.1", "127.9.9.9", "::1"])
def test_this_machine_reads_metrics(client: Client, address: str) -> None:
    assert client.get(METRICS, REMOTE_ADDR=address).status_code == 200


@pytest.mark.parametrize("address", ["10.0.0.9", "", "not an address", "::ffff:10.0.0.9"])
def test_another_machine_does_not(client: Client, address: str) -> None:
    assert client.get(METRICS, REMOTE_ADDR=address).status_code == 403


@pytest.mark.parametrize("header", ["X-Forwarded-For", "X-Real-IP", "Forwarded", "X-Forwarded-Host"])
def test_what_a_proxy_forwards_is_not_this_machine(client: Client, header: str) -> None:
    assert client.get(METRICS, headers={header: "127.0.0.1"}).status_code == 403


def test_the_token_opens_metrics_from_anywhere(client: Client, settings: Any) -> None:
    settings.METRICS_TOKEN = "a long token"
    right = {"Authorization": "Bearer a long token"}
    assert client.get(METRICS, REMOTE_ADDR="10.0.0.9", headers=right).status_code == 200
    for wrong in ("Bearer a long tokem", "Bearer ", "a long token", "Bearer ä"):
        assert client.get(METRICS, REMOTE_ADDR="10.0.0.9", headers={"Authorization": wrong}).status_code == 403


def test_an_unset_token_opens_nothing(client: Client) -> None:
    assert client.get(METRICS, REMOTE_ADDR="10.0.0.9", headers={"Authorization": "Bearer "}).status_code == 403


@pytest.mark.parametrize("address", [HEALTHZ, READYZ, METRICS])
def test_nothing_is_posted_here(client: Client, address: str) -> None:
    assert client.post(address).status_code == 405
