"""Inviting, and changing a role."""

from django import forms

from jobs.models import Role
from jobs.services.invitation import MOST_DAYS, USUAL_DAYS

ROLES = [(role.value, role.label) for role in Role]


class InviteForm(forms.Form):
    note = forms.CharField(
        label="For whom",
        max_length=120,
        required=False,
        help_text="A name for the list below; the link works for whoever has it.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    role = forms.ChoiceField(label="Role", choices=ROLES, initial=Role.MEMBER.value)
    days = forms.IntegerField(label="Holds for", min_value=1, max_value=MOST_DAYS, initial=USUAL_DAYS)


class RoleForm(forms.Form):
    role = forms.ChoiceField(choices=ROLES)
