"""Any other websocket address: refused, without an error in the server's log."""

from channels.generic.websocket import AsyncWebsocketConsumer


class NowhereConsumer(AsyncWebsocketConsumer):
    async def connect(self) -> None:
        await self.close()
