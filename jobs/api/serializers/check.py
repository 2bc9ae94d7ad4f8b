"""Settings about to be deployed, and the verdict on them."""

from rest_framework import serializers

from jobs.api.serializers.fields import Strict, Whatever
from jobs.procedure.deploy_verdict import Verdict
from jobs.procedure.difference import Weight


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


class Compared(serializers.Serializer):
    what = serializers.CharField()
    deployed = serializers.CharField()
    measured = serializers.CharField()
    sentence = serializers.CharField(help_text="the same for people")


class Reason(Compared):
    verdict = serializers.ChoiceField(choices=list(Verdict))


class Doubt(Compared):
    weight = serializers.ChoiceField(choices=[Weight.DOUBT])


class CoveredBy(serializers.Serializer):
    strategy = serializers.CharField()
    context = serializers.IntegerField(allow_null=True, help_text="tokens that may be deployed with it")


class Bound(serializers.Serializer):
    strategy = serializers.CharField()
    context = serializers.IntegerField()


class Checked(serializers.Serializer):
    profile = serializers.IntegerField()
    verdict = serializers.ChoiceField(choices=list(Verdict))
    message = serializers.CharField()
    note = serializers.CharField(allow_blank=True, help_text="that the team adopted another strategy")
    reasons = Reason(many=True)
    in_doubt = Doubt(many=True, help_text="differences that probably change nothing")
    not_told = serializers.ListField(child=serializers.CharField(), help_text="left open, and so not checked")
    limit = CoveredBy()
    by_strategy = serializers.DictField(
        child=serializers.IntegerField(allow_null=True), help_text="tokens that each strategy measured reached"
    )
    adopted = Bound(allow_null=True, help_text="bounds its own strategy alone")
