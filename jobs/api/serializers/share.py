"""A shared answer."""

from rest_framework import serializers

from jobs.api.serializers.fields import Strict
from jobs.services.share import DEFAULT_EXPIRY_DAYS, EXPIRY_DAYS, MOST_SENTENCE_CHARACTERS, MOST_TITLE_CHARACTERS


class ShareAsked(Strict):
    title = serializers.CharField(
        max_length=MOST_TITLE_CHARACTERS, required=False, help_text="default: what it answers"
    )
    sentence = serializers.CharField(max_length=MOST_SENTENCE_CHARACTERS, required=False, allow_blank=True, default="")
    expires_days = serializers.ChoiceField(
        choices=EXPIRY_DAYS, required=False, allow_null=True, default=DEFAULT_EXPIRY_DAYS, help_text="null: never"
    )


class ShareTold(serializers.Serializer):
    id = serializers.IntegerField()
    run = serializers.IntegerField()
    title = serializers.CharField()
    sentence = serializers.CharField(allow_blank=True)
    expires_at = serializers.DateTimeField(allow_null=True)
    url = serializers.CharField(help_text="shown this once; whoever has it sees the answer")
