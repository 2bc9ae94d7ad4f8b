"""A process that measures on one device."""

import socket
from datetime import datetime
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import models

from jobs.models.heartbeat import silent_since

if TYPE_CHECKING:
    from jobs.models.run import Run


def worker_host() -> str:
    """The machine's name in workers' and queues' names: WORKER_HOST, else the host name."""
    return str(settings.WORKER_HOST or socket.gethostname())


def worker_name(device: str, host: str | None = None) -> str:
    return f"{host or worker_host()}:{device}"


def queue_name(device: str, host: str | None = None) -> str:
    """The Celery queue that wakes this device's worker; Celery takes a comma for the end of a queue's name."""
    return f"device.{host or worker_host()}.{device}".replace(",", "+")


class Worker(models.Model):
    """`name` is host:device; `device` is "cpu" or "cuda:N"; seen_at is its heartbeat.

    Several cards are "cuda:0,cuda:1". `cards` is name -> UUID of the cards it measures on, kept from one start to the
    next: a card that is numbered anew stays this worker's.
    `versions` and `applicable` are empty until the worker's own measuring process has been asked;
    `error` is the Refusal that the asking ended with. capacity_bytes is 0 while it is not known.
    """

    name = models.CharField(max_length=120, unique=True)
    device = models.CharField(max_length=60)
    kind = models.CharField(max_length=10)
    device_name = models.CharField(max_length=120)
    capacity_bytes = models.BigIntegerField()
    queue = models.CharField(max_length=140)
    versions = models.JSONField(default=dict)
    applicable = models.JSONField(default=dict)
    cards = models.JSONField(default=dict)
    error = models.JSONField(null=True)
    started_at = models.DateTimeField()
    seen_at = models.DateTimeField(db_index=True)

    # What it is doing, where selectors.worker looked.
    alive: bool
    run: "Run | None"
    waiting: int

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    @property
    def host(self) -> str:
        return self.name.removesuffix(f":{self.device}")

    @property
    def was_probed(self) -> bool:
        """Whether its measuring process has been asked, with whatever answer."""
        return bool(self.versions) or self.error is not None

    def is_alive(self, now: datetime) -> bool:
        return self.seen_at >= silent_since(now)
