from asgiref.sync import async_to_sync
from channels.testing import WebsocketCommunicator

from kvportal.asgi import application


def test_a_websocket_to_nowhere_is_refused() -> None:
    async def scenario() -> bool:
        headers = [(b"origin", b"http://localhost"), (b"host", b"localhost")]
        accepted, _ = await WebsocketCommunicator(application, "/ws/nothing/", headers).connect()
        return accepted

    assert async_to_sync(scenario)() is False
