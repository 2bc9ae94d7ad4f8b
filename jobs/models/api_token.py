"""What a program signs in with."""

from django.conf import settings
from django.db import models

from jobs.models.choices import TokenScope


class ApiToken(models.Model):
    """Only the SHA-256 of the token is kept; `start` is its first letters, to know it by."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=80)
    start = models.CharField(max_length=8)
    token_sha256 = models.CharField(max_length=64, unique=True)
    scope = models.CharField(max_length=8, choices=TokenScope.choices, default=TokenScope.READ)
    made_at = models.DateTimeField(auto_now_add=True)
    used_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-made_at", "-pk"]
        constraints = [
            models.CheckConstraint(condition=models.Q(scope__in=TokenScope.values), name="token_scope_is_known"),
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.start}…)"
