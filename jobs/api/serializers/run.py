"""A run as the contract has it."""

from rest_framework import serializers

from jobs.api.serializers.fields import Whatever
from jobs.models import RunState

STATES = "queued, running and cancelling end in done, failed, cancelled or lost"


class RunTold(serializers.Serializer):
    run = serializers.IntegerField()
    profile = serializers.IntegerField()
    state = serializers.ChoiceField(choices=RunState.choices, help_text=STATES)
    error = Whatever(allow_null=True, help_text="code, message, hint")
    environment = Whatever()
    device = Whatever()
    question = Whatever()
    stages = Whatever(help_text="budgets, baseline, changes, limit: as far as they got")
    measurements = serializers.ListField(child=serializers.DictField(child=serializers.JSONField()))
    queued_at = serializers.DateTimeField(allow_null=True)
    started_at = serializers.DateTimeField(allow_null=True)
    finished_at = serializers.DateTimeField(allow_null=True)


class EventTold(serializers.Serializer):
    seq = serializers.IntegerField(help_text="from 1, without gaps")
    kind = serializers.CharField()
    data = Whatever()
    at = serializers.DateTimeField()


class Queue(serializers.Serializer):
    position = serializers.IntegerField(help_text="1: it is next")
    reason = serializers.CharField(allow_blank=True)


class Events(serializers.Serializer):
    events = EventTold(many=True)
    state = serializers.ChoiceField(choices=RunState.choices)
    queue = Queue(allow_null=True)


class After(serializers.Serializer):
    after = serializers.IntegerField(
        min_value=0, max_value=2**31 - 1, default=0, help_text="the number of the last event that you have"
    )


class Cancelled(serializers.Serializer):
    run = serializers.IntegerField(source="pk")
    state = serializers.ChoiceField(choices=RunState.choices)
