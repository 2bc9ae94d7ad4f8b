from collections.abc import Iterator

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session

from jobs.live.consumer import RunConsumer, read_after
from jobs.models import Run
from jobs.procedure.events import Event, EventKind
from jobs.services.claim import run_claim
from jobs.services.record import event_record
from jobs.services.run import run_cancel
from tests.factories import make_run, make_user, make_worker
from tests.live.browser import close_code, cookie_of, in_thread, open_socket, receive, receive_until

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def user() -> User:
    return make_user()


@pytest.fixture
def claimed() -> tuple[Run, str]:
    worker = make_worker()
    run = make_run(worker)
    claim = run_claim(worker=worker)
    assert claim is not None
    return run, claim.lease


@pytest.fixture
def seldom_looking(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RunConsumer, "look_every_s", 60.0)


@pytest.fixture
def often_looking(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(RunConsumer, "look_every_s", 0.02)
    return iter([None])


def tell(run: Run, lease: str, count: int = 1) -> None:
    for number in range(count):
        event = Event(kind=EventKind.LOG, data={"message": f"line {number}"})
        event_record(run_id=run.pk, lease=lease, event=event)


def test_a_watcher_is_sent_what_there_is_and_what_comes(
    user: User, claimed: tuple[Run, str], seldom_looking: None
) -> None:
    run, lease = claimed
    cookie = cookie_of(user)

    async def scenario() -> None:
        socket = open_socket(run.pk, cookie)
        assert (await socket.connect())[0]
        first = await receive(socket)
        assert first["state"] == "running" and first["queue"] is None
        assert [event["seq"] for event in first["events"]] == [1]
        await in_thread(tell)(run, lease)
        second = await receive(socket)
        assert [(event["seq"], event["data"]) for event in second["events"]] == [(2, {"message": "line 0"})]
        await socket.disconnect()

    async_to_sync(scenario)()


def test_a_late_or_returning_watcher_gets_only_what_it_lacks(
    user: User, claimed: tuple[Run, str], seldom_looking: None
) -> None:
    run, lease = claimed
    cookie = cookie_of(user)
    tell(run, lease, 5)

    async def scenario() -> None:
        late, returning = open_socket(run.pk, cookie), open_socket(run.pk, cookie, "?after=4")
        await late.connect()
        await returning.connect()
        assert await receive_until(late, 6) == [1, 2, 3, 4, 5, 6]
        assert await receive_until(returning, 6) == [5, 6]
        await late.disconnect()
        await returning.disconnect()

    async_to_sync(scenario)()


def test_a_dropped_nudge_costs_a_moment_not_an_event(
    user: User, claimed: tuple[Run, str], often_looking: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, lease = claimed
    cookie = cookie_of(user)
    monkeypatch.setattr("jobs.services.run_state.run_nudge", lambda run_id: None)

    async def scenario() -> None:
        socket = open_socket(run.pk, cookie)
        await socket.connect()
        assert await receive_until(socket, 1) == [1]
        await in_thread(tell)(run, lease)
        assert await receive_until(socket, 2) == [2]
        await socket.disconnect()

    async_to_sync(scenario)()


def test_nothing_is_said_while_nothing_changes(user: User, claimed: tuple[Run, str], often_looking: None) -> None:
    run, _ = claimed
    cookie = cookie_of(user)

    async def scenario() -> None:
        socket = open_socket(run.pk, cookie)
        await socket.connect()
        await receive(socket)
        assert await socket.receive_nothing(timeout=0.3)
        await socket.disconnect()

    async_to_sync(scenario)()


def test_a_waiting_run_tells_its_place_and_its_end(user: User, often_looking: None) -> None:
    worker = make_worker()
    before, run = make_run(worker), make_run(worker)
    cookie = cookie_of(user)

    async def scenario() -> None:
        socket = open_socket(run.pk, cookie)
        await socket.connect()
        assert (await receive(socket))["queue"] == {"position": 2, "reason": "1 run before this one on cpu of box."}
        await in_thread(run_cancel)(run=before, user=None)
        assert (await receive(socket))["queue"]["position"] == 1
        await in_thread(run_cancel)(run=run, user=None)
        end = await receive(socket)
        assert (end["state"], end["queue"]) == ("cancelled", None)
        await socket.disconnect()

    async_to_sync(scenario)()


@pytest.mark.parametrize(
    ("signed_in", "run_id", "code"), [(False, None, 4401), (True, 10**9, 4404), (True, 10**30, 4404)]
)
def test_strangers_and_unknown_runs_are_refused_with_a_code(signed_in: bool, run_id: int | None, code: int) -> None:
    run = make_run()
    cookie = cookie_of(make_user() if signed_in else None)

    async def scenario() -> None:
        socket = open_socket(run_id or run.pk, cookie)
        await socket.connect()
        assert await close_code(socket) == code

    async_to_sync(scenario)()


def test_another_site_s_page_is_refused(user: User) -> None:
    run = make_run()
    cookie = cookie_of(user)

    async def scenario() -> None:
        socket = open_socket(run.pk, cookie, origin="http://evil.example")
        assert (await socket.connect())[0] is False

    async_to_sync(scenario)()


def test_another_web_service_on_this_host_is_refused(user: User) -> None:
    run = make_run()
    cookie = cookie_of(user)

    async def scenario() -> None:
        socket = open_socket(run.pk, cookie, origin="http://localhost:9000")
        assert (await socket.connect())[0] is False

    async_to_sync(scenario)()


def test_signing_out_closes_the_socket_before_the_next_event(
    user: User, claimed: tuple[Run, str], seldom_looking: None
) -> None:
    run, lease = claimed
    cookie = cookie_of(user)

    async def scenario() -> None:
        socket = open_socket(run.pk, cookie)
        await socket.connect()
        await receive(socket)
        await in_thread(Session.objects.all().delete)()
        await in_thread(tell)(run, lease)
        message = await socket.receive_output(timeout=10)
        assert (message["type"], message["code"]) == ("websocket.close", 4401)

    async_to_sync(scenario)()


def test_what_a_browser_says_is_passed_over(user: User, claimed: tuple[Run, str], seldom_looking: None) -> None:
    run, lease = claimed
    cookie = cookie_of(user)

    async def scenario() -> None:
        socket = open_socket(run.pk, cookie)
        await socket.connect()
        await socket.send_json_to({"type": "run.more", "after": -1})
        await socket.send_to(text_data="no JSON")
        await socket.send_to(bytes_data=b"\xff")
        assert await receive_until(socket, 1) == [1]
        await in_thread(tell)(run, lease)
        assert await receive_until(socket, 2) == [2]
        await socket.disconnect()

    async_to_sync(scenario)()


@pytest.mark.parametrize(
    ("query", "after"),
    [
        (b"", 0),
        (b"after=7", 7),
        (b"after=", 0),
        (b"after=-1", 0),
        (b"after=abc", 0),
        (b"after=1e3", 0),
        (b"after=" + b"9" * 400, 0),
        (b"after=4294967296", 0),
        (b"after=%D9%A3", 0),
        (b"after=\xff", 0),
        (b"after=3&after=5", 5),
    ],
)
def test_a_number_that_is_none_means_from_the_beginning(query: bytes, after: int) -> None:
    assert read_after(query) == after
