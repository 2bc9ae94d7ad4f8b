"""What a run measured."""

from django.db import models

from jobs.models.run import Run


class Measurement(models.Model):
    """`data` is the contract's MEASUREMENT with its settings; the columns are what lists filter by."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="measurements")
    stage = models.CharField(max_length=12)
    strategy = models.CharField(max_length=60)
    context = models.PositiveIntegerField()
    outcome = models.CharField(max_length=16)
    data = models.JSONField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["run", "strategy", "context"], name="measurement_is_made_once"),
        ]

    def __str__(self) -> str:
        return f"{self.strategy} at {self.context}"
