"""A run's events to one browser: everything after the number it has, and then what comes."""

import asyncio
import contextlib
import logging
from typing import Any
from urllib.parse import parse_qs

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncJsonWebsocketConsumer

from jobs.live.progress import BATCH_EVENTS, Gone, SignedOut, progress
from jobs.services.nudge import run_group

logger = logging.getLogger(__name__)
SIGNED_OUT = 4401
NO_SUCH_RUN = 4404
FAILED = 1011
LOOK_EVERY_S = 2.0  # a nudge may be dropped: look anyway
REST_S = 0.05  # between two looks: a burst is sent in batches
LARGEST_SEQ = 2**31 - 1


class RunConsumer(AsyncJsonWebsocketConsumer):
    """Sends {"events", "state", "queue"}; says nothing while nothing has changed."""

    look_every_s = LOOK_EVERY_S

    async def connect(self) -> None:
        self.run_id: int = self.scope["url_route"]["kwargs"]["run_id"]
        self.after = read_after(self.scope["query_string"])
        self.told: dict[str, Any] | None = None
        self.more = asyncio.Event()
        self.looking: asyncio.Task[None] | None = None
        await self.accept()  # a code reaches the browser only on an open socket
        await self.channel_layer.group_add(run_group(self.run_id), self.channel_name)
        self.looking = asyncio.create_task(self._look())

    async def disconnect(self, code: int) -> None:
        await self.channel_layer.group_discard(run_group(self.run_id), self.channel_name)
        if self.looking is not None:
            self.looking.cancel()

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None, **_: Any) -> None:
        """A browser has nothing to say here: not even read, for it may be no JSON."""

    async def run_more(self, _: dict[str, Any]) -> None:
        self.more.set()

    async def _look(self) -> None:
        """Look now, at every nudge, and every two seconds."""
        while True:
            self.more.clear()
            code = await self._try_to_send()
            if code is not None:
                await self.close(code=code)
                return
            await asyncio.sleep(REST_S)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.more.wait(), self.look_every_s)

    async def _try_to_send(self) -> int | None:
        """The code to close with, if it is to end."""
        try:
            await self._send_all()
        except SignedOut:
            return SIGNED_OUT
        except Gone:
            return NO_SUCH_RUN
        except Exception:
            logger.exception("the watching of run %s failed", self.run_id)
            return FAILED
        return None

    async def _send_all(self) -> None:
        while True:
            found = await database_sync_to_async(progress)(self._session_key(), self.run_id, self.after)
            events = found["events"]
            if events or found != self.told:
                await self.send_json(found)
            self.told = found | {"events": []}
            if events:
                self.after = events[-1]["seq"]
            if len(events) < BATCH_EVENTS:
                return

    def _session_key(self) -> str | None:
        session = self.scope.get("session")
        return session.session_key if session is not None else None


def read_after(query_string: bytes) -> int:
    """The number after `after=`; anything that is none means from the beginning."""
    text = parse_qs(query_string.decode("ascii", "replace")).get("after", ["0"])[-1]
    number = int(text) if text.isascii() and text.isdigit() and len(text) <= 10 else 0
    return number if number <= LARGEST_SEQ else 0
