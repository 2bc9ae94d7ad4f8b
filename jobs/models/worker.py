"""A process that measures on one device."""

from django.db import models


class Worker(models.Model):
    """`name` is host:device; `device` is "cpu" or "cuda:N"; seen_at is its heartbeat."""

    name = models.CharField(max_length=120, unique=True)
    device = models.CharField(max_length=60)
    kind = models.CharField(max_length=10)
    device_name = models.CharField(max_length=120)
    capacity_bytes = models.BigIntegerField()
    queue = models.CharField(max_length=120)
    versions = models.JSONField(default=dict)
    applicable = models.JSONField(default=dict)
    started_at = models.DateTimeField()
    seen_at = models.DateTimeField(db_index=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name
