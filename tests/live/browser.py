"""A browser's end of the websocket, signed in or not."""

from typing import Any

from asgiref.sync import sync_to_async
from channels.testing import WebsocketCommunicator
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client

from kvportal.asgi import application

PATIENCE_S = 10.0


def cookie_of(user: User | None) -> str:
    client = Client()
    if user is None:
        return ""
    client.force_login(user)
    return f"{settings.SESSION_COOKIE_NAME}={client.session.session_key}"


def open_socket(run_id: int, cookie: str, query: str = "", origin: str = "http://localhost") -> WebsocketCommunicator:
    headers = [(b"cookie", cookie.encode()), (b"origin", origin.encode()), (b"host", b"localhost")]
    return WebsocketCommunicator(application, f"/ws/runs/{run_id}/{query}", headers=headers)


async def receive(socket: WebsocketCommunicator) -> dict[str, Any]:
    message: dict[str, Any] = await socket.receive_json_from(timeout=PATIENCE_S)
    return message


async def receive_until(socket: WebsocketCommunicator, seq: int) -> list[int]:
    """The numbers of all events up to `seq`, as they came."""
    numbers: list[int] = []
    while not numbers or numbers[-1] < seq:
        numbers += [event["seq"] for event in (await receive(socket))["events"]]
    return numbers


async def close_code(socket: WebsocketCommunicator) -> int:
    """The code with which the server closes; messages before it are passed over."""
    while True:
        message = await socket.receive_output(timeout=PATIENCE_S)
        if message["type"] == "websocket.close":
            return int(message["code"])


in_thread = sync_to_async
