"""When a profile's runs are told, and to which webhook."""

from typing import Any

from django import forms

from jobs.models import Notify
from jobs.services.webhook_address import MOST_CHARACTERS, webhook_target
from jobs.sizing.refusal import Refusal


class ToldForm(forms.Form):
    """An empty address leaves the one that is kept, which is shown nowhere; `forget` takes it away."""

    notify = forms.ChoiceField(label="When a run ends", choices=Notify.choices)
    webhook = forms.CharField(
        label="Webhook",
        required=False,
        max_length=MOST_CHARACTERS,
        widget=forms.URLInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    forget = forms.BooleanField(required=False)

    def clean_webhook(self) -> str:
        address = str(self.cleaned_data["webhook"])
        if address:
            try:
                webhook_target(address)
            except Refusal as refusal:
                raise forms.ValidationError(refusal.message) from None
        return address

    def changes(self) -> dict[str, Any]:
        """As the service takes them."""
        kept = None if not self.cleaned_data["forget"] else ""
        return {"notify": Notify(self.cleaned_data["notify"]), "webhook": self.cleaned_data["webhook"] or kept}
