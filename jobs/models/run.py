"""One answering of a profile."""

from django.conf import settings
from django.db import models

from jobs.models.choices import ACTIVE_STATES, Purpose, RunState


class Run(models.Model):
    """`lease` is held by the one worker that may write; `stages` is the contract's, as far as they got.

    model_entry: the model that it was asked of, whatever its profile asks by now.

    worker: whose device was asked for, and who alone may claim it. attempts counts the claims: a worker that dies
    once sends the run back to the queue, twice loses it. seen_at is the heartbeat of whoever holds the lease,
    woken_at the last wake-up sent. `error` is a Refusal.
    purpose: why it was asked for; compared_with: of a recheck, the run whose answer it rechecks. `behind` orders the
    queue before the time does: 0 for what people ask, higher for what waits until nothing lower does.

    What lists print, sort and filter by, filled from `stages` when they have a limit (jobs.services.answer):
    answered: whether it has an answer; limit_context in tokens, None where nothing fits; limit_strategy and limited_by
    as in the contract; fits: the whole workload; peak_bytes and tokens_per_s as measured at the limit.
    config_hash: of the model's config as its inspection read it, empty where it is not known.
    """

    profile = models.ForeignKey("jobs.Profile", on_delete=models.CASCADE, related_name="runs")
    model_entry = models.ForeignKey("jobs.ModelEntry", on_delete=models.PROTECT, related_name="runs")
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
    purpose = models.CharField(max_length=8, choices=Purpose.choices, default=Purpose.ASKED)
    behind = models.PositiveSmallIntegerField(default=0)
    compared_with = models.ForeignKey("self", null=True, on_delete=models.SET_NULL, related_name="rechecks")
    answered = models.BooleanField(default=False)
    limit_context = models.PositiveIntegerField(null=True)
    limit_strategy = models.CharField(max_length=60, blank=True, default="")
    limited_by = models.CharField(max_length=20, blank=True, default="")
    fits = models.BooleanField(null=True)
    peak_bytes = models.BigIntegerField(null=True)
    tokens_per_s = models.FloatField(null=True)
    device = models.JSONField(default=dict)
    environment = models.JSONField(default=dict)
    config_hash = models.CharField(max_length=64, blank=True, default="")
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
            models.CheckConstraint(condition=models.Q(purpose__in=Purpose.values), name="run_purpose_is_known"),
        ]
        indexes = [
            models.Index(fields=["queue", "state", "queued_at"], name="run_queue_order"),
            models.Index(fields=["profile", "-queued_at"], name="run_history_order"),
            models.Index(
                fields=["-queued_at", "-id", "profile"], condition=models.Q(answered=True), name="run_answers_in_time"
            ),
        ]

    def __str__(self) -> str:
        return f"run {self.pk}"

    @property
    def is_active(self) -> bool:
        return self.state in ACTIVE_STATES
