"""A model's sizes."""

from rest_framework import serializers

from jobs.api.serializers.fields import Strict, Whatever
from jobs.sizing.size_question import DEFAULT_TOKENS
from jobs.sizing.stored import AS_STORED

MOST_POINTS = 200


class SizeAsked(Strict):
    """The flags of `manage.py size`."""

    model = serializers.CharField(max_length=300)
    revision = serializers.CharField(required=False, allow_null=True, max_length=120)
    tokens = serializers.ListField(
        child=serializers.IntegerField(min_value=1),
        min_length=1,
        max_length=MOST_POINTS,
        default=list(map(int, DEFAULT_TOKENS)),
        help_text="cached tokens of one sequence",
    )
    sequences = serializers.IntegerField(default=1)
    dtype = serializers.CharField(default="bfloat16")
    strategy = serializers.CharField(default="default")
    attention = serializers.CharField(default="sdpa")
    weights = serializers.CharField(default=AS_STORED)
    padded = serializers.BooleanField(default=False)


class SizePoint(serializers.Serializer):
    tokens = serializers.IntegerField()
    sequences = serializers.IntegerField()
    strategy = serializers.CharField()
    kv_bytes = serializers.IntegerField(help_text="after the first decode step")
    kv_prefill_bytes = serializers.IntegerField(help_text="what a one-shot prefill keeps alive")
    peak_phase = serializers.CharField(help_text="prefill or decode: where the peak stands")
    working_bytes = serializers.IntegerField()
    peak_bytes = serializers.IntegerField()
    host_bytes = serializers.IntegerField(help_text="CPU RAM that offloading needs")
    beyond_native_context = serializers.BooleanField()


class SizeTold(serializers.Serializer):
    model = serializers.CharField()
    model_type = serializers.CharField()
    architecture = serializers.CharField()
    transformers = serializers.CharField()
    dtype = serializers.CharField()
    kernels = serializers.CharField()
    parameters = serializers.IntegerField()
    weights_bytes = serializers.IntegerField()
    weights = Whatever(allow_null=True)
    native_context = serializers.IntegerField(allow_null=True)
    layers = Whatever()
    window_tokens = serializers.IntegerField(allow_null=True)
    points = SizePoint(many=True)
