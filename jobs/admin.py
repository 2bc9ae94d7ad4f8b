"""To look, and little else: what runs and workers write is theirs."""

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.contrib.auth.models import Group, User
from django.http import HttpRequest

from jobs.models import Event, Measurement, ModelEntry, Profile, PromptSet, Run, SetupLink, Worker, Workload

if TYPE_CHECKING:
    ModelAdmin = admin.ModelAdmin[Any]
else:
    ModelAdmin = admin.ModelAdmin  # no subscripts at run time


class ReadOnly(ModelAdmin):
    """Seen; never made, changed or deleted by hand: the pages do that, by their rules, and keep who did."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Workload)
class WorkloadAdmin(ReadOnly):
    list_display = ["name", "prompt_tokens", "typical_prompt_tokens", "answer_tokens", "sequences", "owner"]
    list_select_related = ["owner"]
    search_fields = ["name"]


@admin.register(ModelEntry)
class ModelEntryAdmin(ReadOnly):
    list_display = ["name", "revision", "kind", "state", "inspected_at"]
    list_filter = ["state", "kind"]
    search_fields = ["name"]


@admin.register(Profile)
class ProfileAdmin(ReadOnly):
    list_display = ["name", "model_entry", "worker", "owner", "created_at"]
    list_select_related = ["model_entry", "worker", "owner"]
    search_fields = ["name", "model_entry__name"]
    exclude = ["webhook"]  # a secret


@admin.register(Run)
class RunAdmin(ReadOnly):
    list_display = ["id", "profile", "state", "worker", "attempts", "queued_at", "finished_at"]
    list_filter = ["state", "worker"]
    list_select_related = ["profile", "worker"]
    exclude = ["lease"]


@admin.register(Measurement)
class MeasurementAdmin(ReadOnly):
    list_display = ["run", "stage", "strategy", "context", "outcome", "created_at"]
    list_filter = ["outcome", "stage"]
    list_select_related = ["run"]


@admin.register(Event)
class EventAdmin(ReadOnly):
    list_display = ["run", "seq", "kind", "created_at"]
    list_filter = ["kind"]
    list_select_related = ["run"]


@admin.register(PromptSet)
class PromptSetAdmin(ReadOnly):
    list_display = ["name", "count", "file_bytes", "owner", "created_at"]
    list_select_related = ["owner"]
    search_fields = ["name"]
    exclude = ["texts"]


@admin.register(Worker)
class WorkerAdmin(ReadOnly):
    list_display = ["name", "device_name", "seen_at", "started_at"]


@admin.register(SetupLink)
class SetupLinkAdmin(ReadOnly):
    list_display = ["created_at", "used_at"]
    exclude = ["token_sha256"]


admin.site.unregister([Group, User])


@admin.register(User)
class UserAdmin(ReadOnly):
    """Changed on the team's page alone, so that the flags follow the role and one administrator stays."""

    list_display = ["username", "is_superuser", "is_active", "last_login", "date_joined"]
    search_fields = ["username"]
    exclude = ["password", "groups", "user_permissions"]
