"""Where a member is signed in."""

from django.conf import settings
from django.db import models


class SignedIn(models.Model):
    """One session of the database, by its key. `browser` is what it called itself."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="signed_in")
    session_key = models.CharField(max_length=40, unique=True)
    browser = models.CharField(max_length=200, blank=True, default="")
    address = models.CharField(max_length=45, blank=True, default="")
    since = models.DateTimeField(auto_now_add=True)
    seen_at = models.DateTimeField()

    class Meta:
        ordering = ["-seen_at", "-pk"]

    def __str__(self) -> str:
        return f"{self.user} since {self.since:%Y-%m-%d %H:%M}"
