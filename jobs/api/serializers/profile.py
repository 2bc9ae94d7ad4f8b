"""A profile as it is told, and as it is asked for."""

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from jobs.api.serializers.fields import NumberOrText, Size, Strict, Whatever
from jobs.asking.choices import FIRST_STRATEGIES
from jobs.models import Freshness, Profile, RunState

MOST_NAMES = 12
FRESHNESS = [value for value in Freshness.values if value]


class WorkerNamed(serializers.Serializer):
    id = serializers.IntegerField(source="pk")
    name = serializers.CharField()
    device = serializers.CharField(help_text="cpu, cuda:0, or several as cuda:0,cuda:1")
    device_name = serializers.CharField()


class Difference(serializers.Serializer):
    """What an answer rests on and is otherwise now."""

    what = serializers.CharField()
    was = serializers.CharField(allow_blank=True)
    now = serializers.CharField(allow_blank=True)
    weight = serializers.CharField(help_text="stale, or doubt: probably unaffected")


class Answer(serializers.Serializer):
    run = serializers.IntegerField(source="pk")
    context = serializers.IntegerField(source="limit_context", allow_null=True, help_text="tokens; null: nothing fits")
    strategy = serializers.CharField(source="limit_strategy", allow_blank=True)
    limited_by = serializers.CharField(allow_blank=True)
    fits_workload = serializers.BooleanField(source="fits", allow_null=True)
    peak_bytes = serializers.IntegerField(allow_null=True)
    decode_tokens_per_s = serializers.FloatField(source="tokens_per_s", allow_null=True)
    answered_at = serializers.DateTimeField(source="finished_at", allow_null=True)


class Adopted(serializers.Serializer):
    context = serializers.IntegerField()
    strategy = serializers.CharField()
    reason = serializers.CharField(allow_blank=True)
    run = serializers.IntegerField(source="run_id")
    adopted_by = serializers.CharField(source="adopted_by.username", default=None, allow_null=True)
    adopted_at = serializers.DateTimeField()


class ProfileTold(serializers.Serializer):
    id = serializers.IntegerField(source="pk")
    name = serializers.CharField()
    model = serializers.CharField(source="model_entry.name")
    revision = serializers.CharField(source="model_entry.revision", allow_blank=True)
    owner = serializers.CharField(source="owner.username", default=None, allow_null=True)
    workload = serializers.CharField(source="workload.name", default=None, allow_null=True)
    worker = WorkerNamed(allow_null=True)
    tags = serializers.SerializerMethodField()
    notes = serializers.CharField(allow_blank=True)
    question = Whatever(help_text="as it was asked: lengths, precision, bounds, strategies")
    cloned_from = serializers.IntegerField(source="cloned_from_id", allow_null=True)
    created_at = serializers.DateTimeField()
    archived_at = serializers.DateTimeField(allow_null=True)
    run = serializers.IntegerField(source="latest_run_id", allow_null=True, help_text="the one asked for last")
    state = serializers.ChoiceField(
        choices=RunState.choices, source="latest_run.state", default=None, allow_null=True, help_text="of that run"
    )
    answer = Answer(source="answer_run", allow_null=True)
    adopted = Adopted(source="adoption", allow_null=True)
    freshness = serializers.SerializerMethodField()
    differences = Difference(many=True)

    @extend_schema_field(serializers.ListField(child=serializers.CharField()))
    def get_tags(self, profile: Profile) -> list[str]:
        return [tag.name for tag in profile.tags.all()]

    @extend_schema_field(serializers.ChoiceField(choices=FRESHNESS, allow_null=True))
    def get_freshness(self, profile: Profile) -> str | None:
        return profile.freshness or None


class ProfilePage(serializers.Serializer):
    count = serializers.IntegerField()
    next = serializers.URLField(allow_null=True)
    previous = serializers.URLField(allow_null=True)
    results = ProfileTold(many=True)


class ProfileAsked(Strict):
    """The flags of `manage.py profile`; what is left out, or null, is as in the page's form, which it is held to."""

    model = serializers.CharField(max_length=300, help_text="a built-in architecture, a folder, or org/name[@revision]")
    prompt = serializers.IntegerField(help_text="tokens of the longest prompt")
    answer = serializers.IntegerField(help_text="new tokens of an answer")
    typical_prompt = serializers.IntegerField(required=False, allow_null=True, help_text="default: a quarter of prompt")
    sequences = serializers.IntegerField(required=False, allow_null=True, help_text="at once; default 1")
    dtype = serializers.CharField(required=False, allow_null=True, help_text="default bfloat16")
    weights = serializers.CharField(required=False, allow_null=True, help_text="as-stored, bnb4 or bnb8")
    attention = serializers.CharField(required=False, allow_null=True, help_text="sdpa or eager")
    worker = NumberOrText(help_text="id or name; GET workers/ lists them")
    device = serializers.CharField(
        required=False, allow_null=True, help_text="in place of worker: cuda:0, cpu, or a device's name"
    )
    capacity = Size(help_text="what the run may take on the device; default: all of it")
    headroom = serializers.FloatField(required=False, allow_null=True, help_text="percent kept free; default 10")
    min_speed = serializers.FloatField(required=False, allow_null=True, help_text="tokens/s of one sequence")
    max_ttft = serializers.FloatField(required=False, allow_null=True, help_text="seconds to the first token")
    max_kl = NumberOrText(help_text="bound on quality, mean KL; default 0.2; none for no bound")
    host_capacity = Size(help_text="CPU RAM that offloading may take")
    strategies = serializers.ListField(
        child=serializers.CharField(max_length=60),
        max_length=MOST_NAMES,
        required=False,
        allow_null=True,
        help_text=f"to try beside the normal cache; default: {', '.join(FIRST_STRATEGIES)}, as the form ticks",
    )
    compare_anyway = serializers.BooleanField(required=False, help_text="try them though the normal cache fits")
    depth = serializers.CharField(required=False, allow_null=True, help_text="quick or full")
    time_cap = serializers.FloatField(required=False, allow_null=True, help_text="minutes")
    name = serializers.CharField(required=False, allow_null=True, allow_blank=True, max_length=120)
    tags = serializers.ListField(
        child=serializers.CharField(max_length=40), max_length=MOST_NAMES, required=False, allow_null=True
    )
    notes = serializers.CharField(required=False, allow_null=True, allow_blank=True, max_length=4000)


class Limit(serializers.Serializer):
    """The current answer, and whether it still holds."""

    profile = serializers.IntegerField()
    run = serializers.IntegerField(allow_null=True, help_text="whose answer it is; null: there is none yet")
    answered_at = serializers.DateTimeField(allow_null=True)
    limit = Whatever(allow_null=True, help_text="the run's limit stage: context, strategy, by_strategy, settings, …")
    by_strategy = serializers.DictField(
        child=serializers.IntegerField(allow_null=True),
        help_text="tokens that each strategy measured reached; null: nothing fits with it",
    )
    adopted = Adopted(allow_null=True, help_text="the limit that the team decided to deploy")
    freshness = serializers.ChoiceField(choices=FRESHNESS, allow_null=True)
    differences = Difference(many=True)


class RunAsked(Strict):
    recheck = serializers.BooleanField(
        required=False, default=False, help_text="compare the answer with the one that it rechecks"
    )
