"""The limit that the team decided to deploy."""

from django.conf import settings
from django.db import models


class Adoption(models.Model):
    """The latest that was not withdrawn is the profile's; context is at most the run's limit for the strategy."""

    profile = models.ForeignKey("jobs.Profile", on_delete=models.CASCADE, related_name="adoptions")
    run = models.ForeignKey("jobs.Run", on_delete=models.CASCADE, related_name="adoptions")
    context = models.PositiveIntegerField()
    strategy = models.CharField(max_length=60)
    reason = models.CharField(max_length=500, blank=True, default="")
    adopted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="adoptions"
    )
    adopted_at = models.DateTimeField(auto_now_add=True)
    withdrawn_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-adopted_at", "-pk"]

    def __str__(self) -> str:
        return f"{self.context} of {self.profile}"
