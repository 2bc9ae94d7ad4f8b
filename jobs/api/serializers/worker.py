"""A worker and what it does."""

from rest_framework import serializers

from jobs.api.serializers.fields import Whatever
from jobs.models import Worker


class WorkerTold(serializers.Serializer):
    id = serializers.IntegerField(source="pk")
    name = serializers.CharField()
    device = serializers.CharField()
    kind = serializers.CharField(help_text="cpu or cuda")
    device_name = serializers.CharField()
    capacity_bytes = serializers.SerializerMethodField(help_text="null while it is not known")
    alive = serializers.BooleanField(help_text="whether it was heard lately")
    seen_at = serializers.DateTimeField()
    run = serializers.IntegerField(source="run.pk", default=None, allow_null=True, help_text="that it is measuring")
    waiting = serializers.IntegerField(help_text="runs that wait for it")
    versions = Whatever(help_text="of its measuring process; empty until it was asked")
    applicable = Whatever(help_text="family of strategies -> true, or why it does not apply there")
    error = Whatever(allow_null=True, help_text="code, message and hint, where the asking failed")

    def get_capacity_bytes(self, worker: Worker) -> int | None:
        return worker.capacity_bytes or None


class WorkerList(serializers.Serializer):
    count = serializers.IntegerField()
    results = WorkerTold(many=True)
