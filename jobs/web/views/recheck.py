"""Measuring a profile's answer again."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from jobs.asking.fields import said
from jobs.models import Profile
from jobs.selectors.permission import Act
from jobs.selectors.profile import profile_get
from jobs.services.recheck import run_recheck
from jobs.sizing.refusal import Refusal
from jobs.web.permission import needs
from jobs.web.session import signed_in


@require_POST
@needs(Act.ASK)
def recheck(request: HttpRequest, pk: int) -> HttpResponse:
    try:
        run = run_recheck(profile=profile_get(pk), user=signed_in(request))
    except Profile.DoesNotExist as missing:
        raise Http404 from missing
    except Refusal as refusal:
        messages.error(request, said(refusal))
        return redirect("profile", pk)
    return redirect("run", run.pk)
