"""How long a set's prompts are for a model."""

from django.db import models

from jobs.models.choices import EntryState


class PromptCount(models.Model):
    """lengths: a PromptLengths as JSON once it is ready; error: a Refusal where it is refused.

    woken_at: when the counting was last asked for.
    """

    model_entry = models.ForeignKey("jobs.ModelEntry", on_delete=models.CASCADE, related_name="prompt_counts")
    prompts = models.ForeignKey("jobs.PromptSet", on_delete=models.CASCADE, related_name="counts")
    state = models.CharField(max_length=10, choices=EntryState.choices, default=EntryState.WAITING)
    lengths = models.JSONField(null=True)
    error = models.JSONField(null=True)
    woken_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["model_entry", "prompts"], name="prompts_are_counted_once_a_model"),
            models.CheckConstraint(condition=models.Q(state__in=EntryState.values), name="count_state_is_known"),
        ]

    def __str__(self) -> str:
        return f"{self.prompts} for {self.model_entry}"
