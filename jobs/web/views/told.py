"""When a profile's runs are told: the choice is kept, and its webhook tried."""

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from jobs.asking.fields import said
from jobs.models import Profile
from jobs.selectors.permission import Act
from jobs.selectors.profile import profile_get
from jobs.services.notify import notify_change, webhook_try
from jobs.services.webhook import WebhookFailed
from jobs.services.webhook_address import webhook_host
from jobs.sizing.refusal import Refusal
from jobs.web.forms.told import ToldForm
from jobs.web.found import found_or_404
from jobs.web.permission import refuse_unless
from jobs.web.session import signed_in


@require_POST
def notify(request: HttpRequest, pk: int) -> HttpResponse:
    found = _found(request, pk)
    if _saved(request, found):
        messages.success(request, "Saved.")
    return _back(pk)


@require_POST
def notify_test(request: HttpRequest, pk: int) -> HttpResponse:
    """Keeps the form's choice first, so that what is tried is what is kept."""
    found = _found(request, pk)
    if not _saved(request, found):
        return _back(pk)
    address = found.webhook or settings.WEBHOOK_URL
    if not address:
        messages.error(request, "Saved. There is no webhook to try: give its address.")
        return _back(pk)
    try:
        answer = webhook_try(user=signed_in(request), profile=found, address=address)
    except WebhookFailed as failure:
        messages.error(request, f"Saved. The test did not arrive. {failure}")
    except Refusal as refusal:
        messages.error(request, f"Saved. {said(refusal)}")
    else:
        messages.success(request, f"Saved. The test arrived: {webhook_host(address)} answered {answer}.")
    return _back(pk)


def _found(request: HttpRequest, pk: int) -> Profile:
    """The profile's owner and administrators may change it."""
    found = found_or_404(profile_get, pk)
    refuse_unless(request, Act.CHANGE, owners=[found.owner_id])
    return found


def _saved(request: HttpRequest, profile: Profile) -> bool:
    form = ToldForm(request.POST)
    if not form.is_valid():
        for errors in form.errors.values():
            messages.error(request, " ".join(map(str, errors)))
        return False
    notify_change(user=signed_in(request), profile=profile, **form.changes())
    return True


def _back(pk: int) -> HttpResponse:
    return redirect(f"{reverse('profile', args=[pk])}#told")
