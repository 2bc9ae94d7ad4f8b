"""Settings about to be deployed, and the verdict on them."""

from rest_framework import serializers

from jobs.api.serializers.fields import Strict, Whatever
from jobs.procedure.deploy_verdict import Verdict


class DeployAsked(Strict):
    """As `manage.py check-deploy` reads them: docs/check-deploy.md."""

    model = serializers.CharField(help_text="as the profile has it; perhaps org/name@revision")
    max_context = serializers.IntegerField(min_value=1, help_text="the most tokens of prompt and answer together")
    revision = serializers.CharField(required=False, allow_null=True)
    dtype = serializers.CharField(required=False, allow_null=True)
    sequences = serializers.IntegerField(required=False, allow_null=True, min_value=1)
    strategy = serializers.CharField(required=False, allow_null=True, help_text="quantized:hqq:4, …; or cache")
    cache = Whatever(
        required=False, allow_null=True, help_text="cache_implementation, cache_config, prefill_chunk_size"
    )
    cache_implementation = serializers.CharField(required=False, allow_null=True)
    cache_config = Whatever(required=False, allow_null=True)
    prefill_chunk_size = serializers.IntegerField(required=False, allow_null=True)
    attention = serializers.CharField(required=False, allow_null=True)
    weights = serializers.CharField(required=False, allow_null=True)
    device = serializers.CharField(required=False, allow_null=True, help_text="its name, NVIDIA L4")
    versions = serializers.DictField(required=False, allow_null=True, help_text="transformers, torch, hqq, …")


class Reason(serializers.Serializer):
    what = serializers.CharField()
    deployed = serializers.CharField()
    measured = serializers.CharField()
    verdict = serializers.ChoiceField(choices=list(Verdict))


class CoveredBy(serializers.Serializer):
    strategy = serializers.CharField()
    context = serializers.IntegerField(allow_null=True)


class Checked(serializers.Serializer):
    profile = serializers.IntegerField()
    verdict = serializers.ChoiceField(choices=list(Verdict))
    message = serializers.CharField()
    reasons = Reason(many=True)
    in_doubt = Reason(many=True, help_text="differences that probably change nothing")
    not_told = serializers.ListField(child=serializers.CharField(), help_text="left open, and so not checked")
    limit = CoveredBy()
