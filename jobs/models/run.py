"""One answering of a profile."""

from django.conf import settings
from django.db import models

from jobs.models.choices import ACTIVE_STATES, RunState


class Run(models.Model):
    """`lease` is held by the one worker that may write; `stages` is the contract's, as far as they got.

    worker: whose device was asked for, and who alone may claim it. attempts counts the claims: a worker that dies
    once sends the run back to the queue, twice loses it. seen_at is the heartbeat of whoever holds the lease,
    woken_at the last wake-up sent. `error` is a Refusal.
    """

    profile = models.ForeignKey("jobs.Profile", on_delete=models.CASCADE, related_name="runs")
    submitted_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)
    worker = models.ForeignKey("jobs.Worker", null=True, on_delete=models.SET_NULL, related_name="runs")
    question = models.JSONField()
    state = models.CharField(max_length=12, choices=RunState.choices, default=RunState.QUEUED, db_index=True)
    queue = models.CharField(max_length=140, blank=True, default="")
    lease = models.CharField(max_length=40, blank=True, default="")
    attempts = models.PositiveSmallIntegerField(default=0)
    last_seq = models.PositiveIntegerField(default=0)
    queued_at = models.DateTimeField(auto_now_add=True)
    woken_at = models.DateTimeField(null=True)
    started_at = models.DateTimeField(null=True)
    seen_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    cancelled_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="cancelled_runs"
    )
    device = models.JSONField(default=dict)
    environment = models.JSONField(default=dict)
    stages = models.JSONField(default=dict)
    error = models.JSONField(null=True)

    class Meta:
        ordering = ["-queued_at", "-id"]
        constraints = [
            models.CheckConstraint(condition=models.Q(state__in=RunState.values), name="run_state_is_known"),
            models.UniqueConstraint(
                fields=["worker"],
                condition=models.Q(state__in=[RunState.RUNNING, RunState.CANCELLING]),
                name="worker_has_one_run_at_a_time",
            ),
        ]
        indexes = [models.Index(fields=["queue", "state", "queued_at"], name="run_queue_order")]

    def __str__(self) -> str:
        return f"run {self.pk}"

    @property
    def is_active(self) -> bool:
        return self.state in ACTIVE_STATES
