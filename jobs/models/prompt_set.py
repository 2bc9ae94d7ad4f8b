"""The team's own prompts."""

from django.conf import settings
from django.db import models


class WithoutTexts(models.Manager["PromptSet"]):
    """Megabytes of text are read where they are asked for, and nowhere else."""

    def get_queryset(self) -> models.QuerySet["PromptSet"]:
        return super().get_queryset().defer("texts")


class PromptSet(models.Model):
    """One file's prompts; questions name them by the file's SHA-256. For signed-in members alone.

    texts: a list of strings; bad_lines: [{"number", "reason"}] of the lines that were not used; count: of the texts.
    """

    sha256 = models.CharField(max_length=64, unique=True)
    name = models.CharField(max_length=120)
    texts = models.JSONField()
    bad_lines = models.JSONField(default=list)
    count = models.PositiveIntegerField()
    file_bytes = models.PositiveIntegerField()
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="prompt_sets"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    objects = WithoutTexts()

    class Meta:
        ordering = ["name", "pk"]
        base_manager_name = "objects"

    def __str__(self) -> str:
        return self.name
