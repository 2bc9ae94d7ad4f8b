"""Making a token."""

from django import forms

from jobs.models import TokenScope
from jobs.services.api_token import MOST_NAME_CHARACTERS


class TokenForm(forms.Form):
    name = forms.CharField(
        label="Name",
        max_length=MOST_NAME_CHARACTERS,
        help_text="To know it by: the program that will use it.",
        error_messages={"required": "Give it a name, such as that of the program that will use it."},
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    scope = forms.ChoiceField(
        label="It may",
        choices=TokenScope.choices,
        initial=TokenScope.READ,
        error_messages={"invalid_choice": "Choose read, or read and write.", "required": "Choose what it may do."},
        widget=forms.RadioSelect,
    )
