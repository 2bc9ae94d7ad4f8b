"""What if: the four conditions that a finished run can answer for without measuring."""

from typing import Any, cast

from django import forms

from jobs.asking.fields import AmountField, CountField, SizeField
from jobs.procedure.question_check import MOST_HEADROOM_PERCENT, MOST_SEQUENCES, MOST_TOKENS
from jobs.procedure.what_if import Conditions, Finished
from jobs.sizing.strategy import BASELINE, Strategy, strategy_label
from jobs.sizing.units import bytes_text
from jobs.web.sliders import Slider, capacity_slider, headroom_slider

CONDITIONS = ("prompt_tokens", "sequences", "capacity", "headroom_percent")


class WhatIfForm(forms.Form):
    """A blank stands for what the run itself had."""

    prompt_tokens = CountField(label="Prompt", most=MOST_TOKENS, required=False)
    sequences = CountField(label="Sequences at once", most=MOST_SEQUENCES, unit="sequences", required=False)
    capacity = SizeField(label="Capacity", required=False)
    headroom_percent = AmountField(
        label="Headroom", least=0, most=MOST_HEADROOM_PERCENT, zero=True, unit="percent", required=False
    )

    strategy = forms.ChoiceField(label="Strategy of the map", required=False)

    def __init__(self, *args: Any, finished: Finished, recommended: str, **options: Any) -> None:
        """recommended: the strategy that the map shows where none is chosen."""
        super().__init__(*args, **options)
        self._own = own_conditions(finished)
        self._recommended = recommended
        names = [str(strategy) for strategy in (BASELINE, *finished.strategies)]
        cast("forms.ChoiceField", self.fields["strategy"]).choices = [(name, strategy_label(name)) for name in names]
        self.initial.setdefault("strategy", recommended)
        for name, text in _texts(self._own).items():
            self.fields[name].widget.attrs["placeholder"] = text
        for name, field in self.fields.items():
            if name in self.errors:
                field.widget.attrs |= {"aria-invalid": "true", "aria-describedby": f"{self[name].auto_id}_error"}

    def given(self) -> dict[str, str]:
        """The conditions that are not the run's own, as they were typed."""
        typed = {name: str(self[name].value() or "").strip() for name in CONDITIONS}
        return {name: text for name, text in typed.items() if text}

    def conditions(self) -> Conditions:
        """Of a form that is valid."""
        given = self.cleaned_data
        return Conditions(
            prompt_tokens=given["prompt_tokens"] or self._own.prompt_tokens,
            sequences=given["sequences"] or self._own.sequences,
            capacity_bytes=given["capacity"] or self._own.capacity_bytes,
            headroom_percent=self._own.headroom_percent
            if given["headroom_percent"] is None
            else given["headroom_percent"],
        )

    def mapped(self) -> Strategy:
        """Of a form that is valid: the map's."""
        return Strategy.parse(self.cleaned_data["strategy"] or self._recommended)

    def shown(self) -> str:
        """The name of the strategy that the choice stands at."""
        return str(self["strategy"].value() or self._recommended)

    def sliders(self) -> dict[str, Slider]:
        """By field: shown where there is JavaScript, and never sent; the field beside it has the number."""
        given = self.cleaned_data if self.is_valid() else {}
        capacity = given.get("capacity") or self._own.capacity_bytes
        headroom = given.get("headroom_percent")
        return {
            "capacity": capacity_slider(capacity, own_bytes=self._own.capacity_bytes),
            "headroom_percent": headroom_slider(
                self._own.headroom_percent if headroom is None else headroom, own_percent=self._own.headroom_percent
            ),
        }


def own_conditions(finished: Finished) -> Conditions:
    question = finished.question
    return Conditions(
        prompt_tokens=question.prompt_tokens,
        sequences=question.sequences,
        headroom_percent=question.headroom_percent,
        capacity_bytes=finished.capacity_bytes,
    )


def _texts(own: Conditions) -> dict[str, str]:
    return {
        "prompt_tokens": f"{own.prompt_tokens:,}",
        "sequences": f"{own.sequences:,}",
        "capacity": bytes_text(own.capacity_bytes),
        "headroom_percent": f"{own.headroom_percent:g}",
    }
