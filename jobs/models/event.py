"""What a run told, in order."""

from django.db import models

from jobs.models.run import Run


class Event(models.Model):
    """Numbered from 1 within its run; `kind` and `data` as jobs.procedure.events says."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="events")
    seq = models.PositiveIntegerField()
    kind = models.CharField(max_length=20)
    data = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["run", "seq"]
        constraints = [models.UniqueConstraint(fields=["run", "seq"], name="event_is_numbered_once")]

    def __str__(self) -> str:
        return f"{self.seq} {self.kind}"
