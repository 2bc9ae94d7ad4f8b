"""The question's form over several models and devices: one question each, and all of them or none."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict

from jobs.asking.question import QuestionForm, device_label
from jobs.models import Worker
from jobs.services.several import MOST_AT_ONCE

BETWEEN = re.compile(r"[\n,]")
MOST_CHARACTERS = 4000
OF_THE_FIRST = ("revision", "name", "workload_name", "more_models", "more_workers")


@dataclass(frozen=True, kw_only=True)
class Each:
    """One model on one device, with the form that asks of it."""

    model: str
    worker: Worker
    form: QuestionForm

    @property
    def where(self) -> str:
        return f"{self.model} on {self.worker.device_name}"


class SeveralForm(QuestionForm):
    more_models = forms.CharField(
        label="More models",
        max_length=MOST_CHARACTERS,
        required=False,
        help_text="The same question to each: one model a line, or separated by commas.",
        widget=forms.Textarea(attrs={"rows": 3, "autocomplete": "off", "spellcheck": "false"}),
    )
    more_workers = forms.ModelMultipleChoiceField(
        label="Also on",
        queryset=Worker.objects.all(),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        error_messages={"invalid_choice": "That device’s worker is gone; choose another."},
    )

    def clean_more_models(self) -> list[str]:
        return _names(self.cleaned_data["more_models"])

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        if {"model", "worker", "more_models", "more_workers"} <= cleaned.keys() and not self.errors:
            self._refuse_too_many()
        if not self.errors:
            for each in self.each():
                self._take_errors(each)
        return cleaned

    def each(self) -> list[Each]:
        """Every model on every device as the form stands, its own first; of a form whose fields are right."""
        cleaned = self.cleaned_data
        models = dict.fromkeys((cleaned["model"], *cleaned["more_models"]))
        workers = dict.fromkeys((cleaned["worker"], *cleaned["more_workers"]))
        pairs = [(model, worker) for model in models for worker in workers]
        return [Each(model=model, worker=worker, form=self._of(model, worker)) for model, worker in pairs]

    @property
    def run_count(self) -> int:
        """How many runs it makes as it stands, right or not."""
        models = dict.fromkeys((str(self["model"].value() or "").strip(), *_names(self["more_models"].value() or "")))
        workers = dict.fromkeys((self._worker_value, *map(str, self["more_workers"].value() or ())))
        return max(1, len([name for name in models if name])) * len(workers)

    @property
    def other_devices(self) -> Iterator[tuple[Worker, str, bool]]:
        """To tick: each with its label, and whether it is."""
        ticked = set(map(str, self["more_workers"].value() or ()))
        for worker in self.devices:
            yield worker, device_label(worker), str(worker.pk) in ticked

    def refuse(self, each: Each, name: str, sentence: str) -> None:
        """An error of one of them, beside the field that it comes from."""
        if each.form is self:
            self.add_error(name, sentence)
            return
        field = {"model": "more_models", "worker": "more_workers"}.get(name, name)
        self.add_error(field, ValidationError(f"{each.where}: {sentence}"))

    @property
    def _worker_value(self) -> str:
        return str(self["worker"].value() or next((worker.pk for worker in self.devices), ""))

    def _refuse_too_many(self) -> None:
        cleaned = self.cleaned_data
        models = len(dict.fromkeys((cleaned["model"], *cleaned["more_models"])))
        devices = len(dict.fromkeys((cleaned["worker"], *cleaned["more_workers"])))
        if models * devices > MOST_AT_ONCE:
            made = f"{models} models on {devices} device{'s' * (devices > 1)} are {models * devices} runs"
            self.add_error("more_models", f"{made}; at most {MOST_AT_ONCE} are made at once.")

    def _of(self, model: str, worker: Worker) -> QuestionForm:
        if (model, worker) == (self.cleaned_data["model"], self.cleaned_data["worker"]):
            return self
        data = QueryDict(mutable=True)
        data.update(self.data)
        for name in OF_THE_FIRST:
            data.pop(name, None)
        if model == self.cleaned_data["model"]:
            data["revision"] = self.cleaned_data["revision"]
        data["model"], data["worker"] = model, str(worker.pk)
        return QuestionForm(data)

    def _take_errors(self, each: Each) -> None:
        if each.form is self:
            return
        for name, errors in each.form.errors.items():
            for error in errors:
                self.refuse(each, name, str(error))


def _names(text: str | list[str]) -> list[str]:
    parts = BETWEEN.split(text) if isinstance(text, str) else text
    return list(dict.fromkeys(part.strip() for part in parts if part.strip()))
