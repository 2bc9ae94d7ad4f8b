"""A word that profiles are found by."""

from django.db import models


class Tag(models.Model):
    """In small letters."""

    name = models.CharField(max_length=40, unique=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name
