"""A named set of lengths, perhaps with the team's own prompts, used with many models."""

from django.conf import settings
from django.db import models


class Workload(models.Model):
    """prompts: None for random tokens."""

    name = models.CharField(max_length=80, unique=True)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)
    prompt_tokens = models.PositiveIntegerField()
    typical_prompt_tokens = models.PositiveIntegerField()
    answer_tokens = models.PositiveIntegerField()
    sequences = models.PositiveIntegerField(default=1)
    prompts = models.ForeignKey("jobs.PromptSet", null=True, on_delete=models.SET_NULL, related_name="workloads")
    notes = models.TextField(max_length=4000, blank=True, default="")
    created_at = models.DateTimeField(auto_now_add=True)
    archived_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(
                    prompt_tokens__gte=1, typical_prompt_tokens__gte=1, answer_tokens__gte=1, sequences__gte=1
                ),
                name="workload_lengths_are_positive",
            ),
        ]

    def __str__(self) -> str:
        return self.name
