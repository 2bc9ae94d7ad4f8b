"""Through a real Valkey, which drops what nobody reads in time."""

from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.db import connection

from jobs.procedure.events import Event, EventKind
from jobs.services import nudge
from jobs.services.claim import run_claim
from jobs.services.record import event_record
from kvportal.env import channel_layers
from tests.factories import make_run, make_user, make_worker
from tests.live.browser import cookie_of, in_thread, open_socket, receive_until

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def through_valkey(settings: Any, valkey_url: str) -> None:
    settings.CHANNEL_LAYERS = channel_layers(valkey_url)


def test_after_a_burst_of_1000_events_the_browser_is_complete() -> None:
    worker = make_worker()
    run = make_run(worker)
    claim = run_claim(worker=worker)
    assert claim is not None
    cookie = cookie_of(make_user())

    def burst() -> None:
        for number in range(1000):
            event = Event(kind=EventKind.LOG, data={"message": str(number)})
            event_record(run_id=run.pk, lease=claim.lease, event=event)
        connection.close()

    async def scenario() -> None:
        socket = open_socket(run.pk, cookie)
        await socket.connect()
        await in_thread(burst, thread_sensitive=False)()
        assert await receive_until(socket, 1001) == list(range(1, 1002))
        await socket.disconnect()

    async_to_sync(scenario)()


def test_a_worker_can_nudge_a_hundred_times_in_a_row() -> None:
    for _ in range(100):
        nudge.run_nudge(1)


def test_a_channel_layer_that_is_down_fails_no_run(settings: Any, caplog: pytest.LogCaptureFixture) -> None:
    settings.CHANNEL_LAYERS = channel_layers("unix:///nowhere/valkey.sock?db=0")
    worker = make_worker()
    make_run(worker)
    assert run_claim(worker=worker) is not None
    assert "nobody could be told of run" in caplog.text
