"""A one-time link that makes a member's account."""

from django.conf import settings
from django.db import models

from jobs.models.choices import Role


class Invitation(models.Model):
    """Only the SHA-256 of the link's token is kept. `note` says whom it is for."""

    token_sha256 = models.CharField(max_length=64, unique=True)
    role = models.CharField(max_length=8, choices=Role.choices, default=Role.MEMBER)
    note = models.CharField(max_length=120, blank=True, default="")
    invited_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    invited_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True)
    used_at = models.DateTimeField(null=True)
    used_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")

    class Meta:
        ordering = ["-invited_at", "-pk"]
        constraints = [models.CheckConstraint(condition=models.Q(role__in=Role.values), name="invited_role_is_known")]

    def __str__(self) -> str:
        return f"invitation of a {self.role}"
