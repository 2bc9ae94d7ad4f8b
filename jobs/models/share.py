"""An answer shown to whoever has its link."""

from django.conf import settings
from django.db import models


class Share(models.Model):
    """Only the SHA-256 of the link's token is kept. `snapshot` is all that the page shows: frozen when it was made,
    and stripped of names, notes, paths and prompts. expires_at is None for a link that stays until it is revoked."""

    run = models.ForeignKey("jobs.Run", on_delete=models.CASCADE, related_name="shares")
    token_sha256 = models.CharField(max_length=64, unique=True)
    title = models.CharField(max_length=120)
    sentence = models.CharField(max_length=300, blank=True, default="")
    snapshot = models.JSONField()
    shared_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="shares")
    shared_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)
    views = models.PositiveIntegerField(default=0)
    viewed_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-shared_at", "-pk"]

    def __str__(self) -> str:
        return self.title
