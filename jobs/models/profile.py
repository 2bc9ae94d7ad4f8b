"""The saved question."""

from django.conf import settings
from django.db import models


class Profile(models.Model):
    """`question` is a Question as JSON; the workload's lengths are frozen in it."""

    name = models.CharField(max_length=120)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)
    model_entry = models.ForeignKey("jobs.ModelEntry", on_delete=models.PROTECT, related_name="profiles")
    workload = models.ForeignKey("jobs.Workload", null=True, on_delete=models.SET_NULL, related_name="profiles")
    worker = models.ForeignKey("jobs.Worker", null=True, on_delete=models.SET_NULL, related_name="profiles")
    question = models.JSONField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return self.name
