"""What somebody who shares an answer says of it, and how long the link lasts."""

from typing import Any

from django import forms

from jobs.models import Run
from jobs.services.share import (
    DEFAULT_EXPIRY_DAYS,
    EXPIRY_DAYS,
    MOST_SENTENCE_CHARACTERS,
    MOST_TITLE_CHARACTERS,
    title_proposed,
)

NEVER = "never"
EXPIRIES = [*((str(days), f"after {days} days") for days in EXPIRY_DAYS), (NEVER, "never: until it is revoked")]


class ShareForm(forms.Form):
    title = forms.CharField(
        max_length=MOST_TITLE_CHARACTERS,
        error_messages={"required": "Write a title: it heads the page."},
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    sentence = forms.CharField(
        label="In a sentence",
        required=False,
        max_length=MOST_SENTENCE_CHARACTERS,
        help_text="What it means for whoever reads it. Both are shown as you write them.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    expires = forms.ChoiceField(label="Expires", choices=EXPIRIES)

    def clean_expires(self) -> int | None:
        chosen = self.cleaned_data["expires"]
        return None if chosen == NEVER else int(chosen)


def share_form(run: Run, data: Any = None) -> ShareForm:
    """With a title proposed, and the usual expiry."""
    initial = {"title": title_proposed(run), "expires": str(DEFAULT_EXPIRY_DAYS)}
    return ShareForm(data, initial=initial, auto_id="share_%s")
