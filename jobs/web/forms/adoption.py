"""Which limit of a run is adopted, and why."""

from typing import Any

from django import forms

from jobs.asking.fields import CountField
from jobs.models import Run
from jobs.services.adoption import MOST_REASON_CHARACTERS, limits_of
from jobs.sizing.strategy import strategy_label

MOST_TOKENS = 2**31 - 1


class AdoptForm(forms.Form):
    context = CountField(label="Max context", most=MOST_TOKENS, help_text="The limit, or less.")
    strategy = forms.ChoiceField(label="With", error_messages={"invalid_choice": "Choose a strategy that ran."})
    reason = forms.CharField(
        required=False,
        max_length=MOST_REASON_CHARACTERS,
        help_text="Needed for less than the limit, or another strategy than recommended.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )

    def __init__(self, data: Any = None, *, run: Run) -> None:
        initial = {"context": run.limit_context, "strategy": run.limit_strategy}
        super().__init__(data, initial=initial, auto_id="adopt-%s")
        strategy = self.fields["strategy"]
        assert isinstance(strategy, forms.ChoiceField)  # noqa: S101 (declared so above)
        strategy.choices = [
            (name, f"{strategy_label(name)}: up to {limit:,}") for name, limit in limits_of(run.stages).items()
        ]
