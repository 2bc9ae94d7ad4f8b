"""The saved question."""

from django.conf import settings
from django.db import models

from jobs.models.choices import Freshness, Notify


class Profile(models.Model):
    """`question` is a Question as JSON; the workload's lengths are frozen in it.

    latest_run: the one asked for last; answer_run: the latest that has an answer, to the question as it was then.
    adoption: the limit in force, None where none was adopted. freshness: whether the answer still holds; `differences`
    are jobs.procedure.difference.Differences as JSON, differs_since the moment when there first were any. cloned_from:
    the profile that it was made like. An archived one is kept, and left out of lists. at_night: whether the schedule
    may recheck it. webhook: the team's where empty.
    """

    name = models.CharField(max_length=120)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)
    model_entry = models.ForeignKey("jobs.ModelEntry", on_delete=models.PROTECT, related_name="profiles")
    workload = models.ForeignKey("jobs.Workload", null=True, on_delete=models.SET_NULL, related_name="profiles")
    worker = models.ForeignKey("jobs.Worker", null=True, on_delete=models.SET_NULL, related_name="profiles")
    question = models.JSONField()
    tags = models.ManyToManyField("jobs.Tag", related_name="profiles", blank=True)
    notes = models.TextField(max_length=4000, blank=True, default="")
    cloned_from = models.ForeignKey("self", null=True, on_delete=models.SET_NULL, related_name="clones")
    latest_run = models.ForeignKey("jobs.Run", null=True, on_delete=models.SET_NULL, related_name="+")
    answer_run = models.ForeignKey("jobs.Run", null=True, on_delete=models.SET_NULL, related_name="+")
    adoption = models.ForeignKey("jobs.Adoption", null=True, on_delete=models.SET_NULL, related_name="+")
    freshness = models.CharField(max_length=6, choices=Freshness.choices, blank=True, default=Freshness.NONE)
    differences = models.JSONField(default=list)
    differs_since = models.DateTimeField(null=True)
    at_night = models.BooleanField(default=True)
    notify = models.CharField(max_length=8, choices=Notify.choices, default=Notify.NEVER)
    webhook = models.CharField(max_length=500, blank=True, default="")
    created_at = models.DateTimeField(auto_now_add=True)
    archived_at = models.DateTimeField(null=True, db_index=True)

    class Meta:
        ordering = ["-created_at"]
        constraints = [
            models.CheckConstraint(condition=models.Q(freshness__in=Freshness.values), name="freshness_is_known"),
            models.CheckConstraint(condition=models.Q(notify__in=Notify.values), name="notify_is_known"),
        ]
        indexes = [models.Index(fields=["archived_at", "-created_at"], name="profile_list_order")]

    def __str__(self) -> str:
        return self.name
