"""The one-time link that makes the first account."""

from django.db import models


class SetupLink(models.Model):
    """Only the SHA-256 of the token is kept."""

    token_sha256 = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(auto_now_add=True)
    used_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"set-up link of {self.created_at:%Y-%m-%d %H:%M}"
