"""What is to be told of a run that ended."""

from django.db import models

from jobs.models.choices import Channel, NoticeState


class Notice(models.Model):
    """An outbox: the row is the truth, Celery only says that there is something to send.

    to: an e-mail address, or a webhook's. woken_at: when the sending was last asked for.
    """

    run = models.ForeignKey("jobs.Run", on_delete=models.CASCADE, related_name="notices")
    channel = models.CharField(max_length=8, choices=Channel.choices)
    to = models.CharField(max_length=500)
    state = models.CharField(max_length=8, choices=NoticeState.choices, default=NoticeState.WAITING, db_index=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    error = models.CharField(max_length=300, blank=True, default="")
    woken_at = models.DateTimeField(null=True)
    made_at = models.DateTimeField(auto_now_add=True)
    sent_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["run", "channel", "to"], name="a_run_is_told_once_to_each"),
            models.CheckConstraint(condition=models.Q(state__in=NoticeState.values), name="notice_state_is_known"),
        ]

    def __str__(self) -> str:
        return f"{self.channel} of {self.run}"
