"""The one shape of whatever goes wrong."""

from rest_framework import serializers


class ErrorBody(serializers.Serializer):
    code = serializers.CharField(help_text="for programs; docs/refusals.md lists them")
    message = serializers.CharField(help_text="a sentence")
    hint = serializers.CharField(help_text="what to change", allow_blank=True)
    fields = serializers.DictField(
        child=serializers.CharField(), required=False, help_text="a sentence for each field that is refused"
    )


class Error(serializers.Serializer):
    error = ErrorBody()
