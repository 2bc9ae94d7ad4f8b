"""Tells whoever watches a run that there is more to read; what it is stands in the database."""

import asyncio
import logging

from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer
from redis.exceptions import RedisError

logger = logging.getLogger(__name__)
PATIENCE_S = 2.0


def run_group(run_id: int) -> str:
    return f"run-{run_id}"


def run_nudge(run_id: int) -> None:
    """A channel layer that is down costs the watchers two seconds, not the run its life."""
    try:
        async_to_sync(_send)(run_id)
    except (OSError, RedisError, TimeoutError) as error:
        logger.warning("nobody could be told of run %s: %s", run_id, error)


async def _send(run_id: int) -> None:
    layer = get_channel_layer()
    if layer is not None:
        await asyncio.wait_for(layer.group_send(run_group(run_id), {"type": "run.more"}), PATIENCE_S)
