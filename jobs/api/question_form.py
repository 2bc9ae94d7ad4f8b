"""The question's form, filled from JSON, so that programs and pages are held to the same rules."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django import forms

from jobs.api.errors import Faults
from jobs.asking.choices import FIRST_STRATEGIES, STRATEGIES
from jobs.asking.fields import AmountField, SizeField
from jobs.asking.question import QuestionForm
from jobs.models import Worker
from jobs.procedure.question import Question
from jobs.selectors.worker import devices_for_form
from jobs.sizing.refusal import Refusal
from jobs.sizing.size_question import ATTENTIONS
from jobs.sizing.strategy import Strategy

FIELDS = {
    "model": "model",
    "prompt": "prompt_tokens",
    "answer": "answer_tokens",
    "typical_prompt": "typical_prompt_tokens",
    "sequences": "sequences",
    "dtype": "dtype",
    "weights": "weights",
    "attention": "attention",
    "capacity": "capacity",
    "headroom": "headroom_percent",
    "min_speed": "min_speed",
    "max_ttft": "max_ttft",
    "max_kl": "max_kl",
    "host_capacity": "host_capacity",
    "depth": "depth",
    "time_cap": "time_cap",
    "name": "name",
}
"""Name in JSON -> the form's."""
NAMES = {field: name for name, field in FIELDS.items()} | {"more_strategies": "strategies", "revision": "model"}
CHECKED = frozenset(name for name, _, _ in STRATEGIES)
UNTOLD = frozenset({"invalid", "required", "invalid_choice", "max_length", None})
"""Codes of Django's own, which say no more than the sentence."""


class AskedForm(QuestionForm):
    """With what the command line takes too."""

    attention = forms.ChoiceField(choices=[(name, name) for name in ATTENTIONS], required=False)
    host_capacity = SizeField(required=False)
    time_cap = AmountField(most=100_000, unit="minutes", required=False)

    def question(self, model: str) -> Question:
        cleaned = self.cleaned_data
        time_cap_min = cleaned["time_cap"]
        return replace(
            super().question(model),
            attention=cleaned["attention"] or ATTENTIONS[0],
            host_capacity_bytes=cleaned["host_capacity"],
            time_cap_s=None if time_cap_min is None else 60 * time_cap_min,
        )

    def refuse_faults(self) -> None:
        """Raises Faults by the names that JSON has."""
        if not self.errors:
            return
        found = self.errors.as_data()
        fields = {
            NAMES.get(name, name).replace("__all__", "body"): " ".join(text for one in errors for text in one.messages)
            for name, errors in found.items()
        }
        codes = {one.code for errors in found.values() for one in errors} - UNTOLD
        raise Faults(fields, *(codes if len(codes) == 1 and len(fields) == 1 else ()))


def asked_form(given: Mapping[str, Any]) -> AskedForm:
    """Bound, of a body that the serializer has read. Raises Faults, for a worker that there is not."""
    sent: dict[str, Any] = {
        field: _written(given[name]) for name, field in FIELDS.items() if given.get(name) is not None
    }
    worker = _worker(given)
    if worker is not None:
        sent["worker"] = worker.pk
    strategies = given.get("strategies")
    if strategies is None:
        strategies = FIRST_STRATEGIES
    named = [_plain(name) for name in strategies]
    sent["strategies"] = [name for name in named if name in CHECKED]
    sent["more_strategies"] = ",".join(name for name in named if name not in CHECKED)
    if given.get("compare_anyway"):
        sent["compare_anyway"] = "on"
    return AskedForm(sent)


def _plain(name: str) -> str:
    """As strategies are named; what is none stays as it is, for the form to refuse."""
    try:
        return str(Strategy.parse(name))
    except Refusal:
        return name


def _written(value: Any) -> str:
    """A number as people write it: without an exponent."""
    return f"{value:.6f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def _worker(given: Mapping[str, Any]) -> Worker | None:
    """By id or name, or by its device; the best that lives where several have that. None: the form's own choice."""
    name, device = given.get("worker"), given.get("device")
    known = devices_for_form()
    if name is not None:
        found = next((one for one in known if name in (one.name, str(one.pk))), None)
        if found is None:
            raise Faults({"worker": f"There is no worker “{name[:80]}”; GET workers/ lists them."})
        if device is not None and device not in (found.device, found.device_name):
            raise Faults({"device": f"The worker {found.name} measures on {found.device}."})
        return found
    if device is None:
        return next(iter(known), None)
    found = next((one for one in known if device in (one.device, one.device_name)), None)
    if found is None:
        raise Faults({"device": f"No worker measures on “{device[:80]}”; GET workers/ lists them."})
    return found
