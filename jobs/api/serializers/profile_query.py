"""What a list of profiles is narrowed by: the names that the page's address has, and a few more."""

from typing import Any

from rest_framework import serializers

from jobs.models import Freshness, RunState
from jobs.selectors.profile import SORTS

NO_ANSWER = "none"
FRESHNESS = [*(value for value in Freshness.values if value), NO_ANSWER]
YES_NO = ["yes", "no"]


class ProfileQuery(serializers.Serializer):
    q = serializers.CharField(required=False, max_length=100, help_text="in the name, the model, a tag or the owner")
    freshness = serializers.ChoiceField(choices=FRESHNESS, required=False, help_text="none: no answer yet")
    adopted = serializers.ChoiceField(choices=YES_NO, required=False)
    archived = serializers.ChoiceField(choices=YES_NO, default="no")
    device = serializers.CharField(required=False, max_length=120, help_text="its name, as the page shows it")
    tag = serializers.CharField(required=False, max_length=40)
    state = serializers.ChoiceField(choices=RunState.values, required=False, help_text="of the latest run")
    model = serializers.CharField(required=False, max_length=300, help_text="its exact name")
    worker = serializers.CharField(required=False, max_length=120, help_text="its id or exact name")
    whose = serializers.ChoiceField(choices=["mine"], required=False)
    sort = serializers.ChoiceField(choices=list(SORTS), default="-date", help_text="a minus: the highest first")
    page = serializers.IntegerField(required=False, min_value=1)
    page_size = serializers.IntegerField(required=False, min_value=1, max_value=100, help_text="25 by itself")

    @property
    def conditions(self) -> dict[str, Any]:
        """As jobs.selectors.profile_told.profiles_narrowed takes them, of a query that is valid."""
        given = {**self.validated_data}
        for name in ("page", "page_size", "whose"):
            given.pop(name, None)
        for name in {"adopted", "archived"} & given.keys():
            given[name] = given[name] == "yes"
        if given.get("freshness") == NO_ANSWER:
            given["freshness"] = str(Freshness.NONE)
        return given | ({"owner": self.context["user"]} if "whose" in self.validated_data else {})
