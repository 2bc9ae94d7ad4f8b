"""A model that somebody asked about, with the record of its inspection."""

from django.conf import settings
from django.db import models

from jobs.models.choices import EntryState


class ModelEntry(models.Model):
    """`spec` is a ModelSpec and `record` an InspectionRecord, both as JSON; `error` a Refusal.

    dtypes: the precisions that somebody asked about beside the first, for which the model is read too.
    seen_commit: what a Hub model's revision was last seen to stand for, empty while nothing is known; looked_at: when
    the Hub was last asked.
    woken_at: when an inspection was last asked for; attempts: how often one was begun since it was last settled.
    """

    kind = models.CharField(max_length=16)
    name = models.CharField(max_length=300)
    revision = models.CharField(max_length=120, blank=True, default="")
    spec = models.JSONField(default=dict)
    state = models.CharField(max_length=10, choices=EntryState.choices, default=EntryState.WAITING)
    record = models.JSONField(null=True)
    error = models.JSONField(null=True)
    dtypes = models.JSONField(default=list)
    config_hash = models.CharField(max_length=64, blank=True, default="")
    seen_commit = models.CharField(max_length=64, blank=True, default="")
    looked_at = models.DateTimeField(null=True)
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="model_entries"
    )
    attempts = models.PositiveSmallIntegerField(default=0)
    woken_at = models.DateTimeField(null=True)
    inspected_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        verbose_name_plural = "model entries"
        constraints = [
            models.UniqueConstraint(fields=["kind", "name", "revision"], name="model_entry_is_named_once"),
            models.CheckConstraint(condition=models.Q(state__in=EntryState.values), name="entry_state_is_known"),
        ]

    def __str__(self) -> str:
        return f"{self.name}@{self.revision}" if self.revision else self.name
