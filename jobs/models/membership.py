"""What a member of the team may do."""

from django.conf import settings
from django.db import models

from jobs.models.choices import Role


class Membership(models.Model):
    """email_told: whether the end of one's runs is told by e-mail."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="membership")
    role = models.CharField(max_length=8, choices=Role.choices, default=Role.MEMBER)
    email_told = models.BooleanField(default=True)

    class Meta:
        constraints = [models.CheckConstraint(condition=models.Q(role__in=Role.values), name="role_is_known")]

    def __str__(self) -> str:
        return f"{self.user}: {self.role}"
