"""A saved workload's name, lengths and notes."""

from typing import Any

from django import forms

from jobs.asking.fields import CountField
from jobs.asking.question import MOST_SEQUENCES, MOST_TOKENS
from jobs.models import Workload
from jobs.services.workload import MOST_NOTES_CHARACTERS

NAMES = ("name", "prompt_tokens", "typical_prompt_tokens", "answer_tokens", "sequences", "notes")


class WorkloadForm(forms.Form):
    name = forms.CharField(max_length=80, widget=forms.TextInput(attrs={"autocomplete": "off"}))
    prompt_tokens = CountField(label="Longest prompt", most=MOST_TOKENS)
    typical_prompt_tokens = CountField(label="Typical prompt", most=MOST_TOKENS)
    answer_tokens = CountField(label="Answer", most=MOST_TOKENS)
    sequences = CountField(label="Sequences at once", most=MOST_SEQUENCES, unit="sequences")
    notes = forms.CharField(required=False, max_length=MOST_NOTES_CHARACTERS, widget=forms.Textarea(attrs={"rows": 4}))


def workload_form(workload: Workload, data: Any = None) -> WorkloadForm:
    return WorkloadForm(data, initial={name: getattr(workload, name) for name in NAMES})
