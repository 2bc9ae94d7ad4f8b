"""What is said of a profile, beside its question."""

from typing import Any

from django import forms

from jobs.models import Profile
from jobs.services.profile import MOST_NAME_CHARACTERS, MOST_NOTES_CHARACTERS
from jobs.services.tag import MOST_TAG_CHARACTERS, MOST_TAGS

PLAIN = {"autocomplete": "off"}


class ProfileForm(forms.Form):
    name = forms.CharField(
        max_length=MOST_NAME_CHARACTERS,
        error_messages={"required": "Give it a name."},
        widget=forms.TextInput(attrs=PLAIN),
    )
    tags = forms.CharField(
        required=False,
        max_length=MOST_TAGS * (MOST_TAG_CHARACTERS + 2),
        help_text=f"Separated by commas, at most {MOST_TAGS}; lists are narrowed by them.",
        widget=forms.TextInput(attrs=PLAIN),
    )
    notes = forms.CharField(
        required=False,
        max_length=MOST_NOTES_CHARACTERS,
        help_text="Shown as you write them. A share never has them.",
        widget=forms.Textarea(attrs={"rows": 6}),
    )
    at_night = forms.BooleanField(label="Recheck at night when it no longer holds", required=False)


def profile_form(profile: Profile, data: Any = None) -> ProfileForm:
    initial = {
        "name": profile.name,
        "tags": ", ".join(tag.name for tag in profile.tags.all()),
        "notes": profile.notes,
        "at_night": profile.at_night,
    }
    return ProfileForm(data, initial=initial)
