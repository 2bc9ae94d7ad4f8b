"""A run's limit is adopted, and an adoption withdrawn."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from jobs.asking.fields import said
from jobs.models import Adoption, Run
from jobs.selectors.permission import Act
from jobs.selectors.run import run_get
from jobs.services.adoption import adopted_text, adoption_adopt, adoption_withdraw, limits_of
from jobs.sizing.refusal import Refusal
from jobs.web.forms.adoption import AdoptForm
from jobs.web.found import found_or_404
from jobs.web.permission import needs
from jobs.web.presenters.adoptions import doubts
from jobs.web.session import signed_in

FIELDS = {"bad_context": "context", "above_limit": "context", "not_measured": "strategy"}


@require_http_methods(["GET", "HEAD", "POST"])
@needs(Act.ASK)
def adopt(request: HttpRequest, pk: int) -> HttpResponse:
    run = found_or_404(run_get, pk)
    form = AdoptForm(request.POST if request.method == "POST" else None, run=run)
    if request.method == "POST" and form.is_valid():
        try:
            adoption = adoption_adopt(run=run, user=signed_in(request), **form.cleaned_data)
        except Refusal as refusal:
            reason = "reason" if refusal.code.endswith("_reason") else None
            form.add_error(FIELDS.get(refusal.code, reason), said(refusal))
        else:
            messages.success(request, f"Adopted: {adopted_text(adoption)}.")
            return redirect("profile", run.profile_id)
    return render(request, "adoptions/new.html", {"nav": "profiles", "run": run, **adopt_parts(run, form)})


@require_POST
@needs(Act.ASK)
def withdraw(request: HttpRequest, pk: int) -> HttpResponse:
    adoption = get_object_or_404(Adoption.objects.select_related("profile", "run"), pk=pk)
    if adoption_withdraw(adoption=adoption, user=signed_in(request)):
        messages.success(request, f"Withdrawn: {adopted_text(adoption)}. Nothing is adopted now.")
    return redirect("profile", adoption.profile_id)


def adopt_parts(run: Run, form: AdoptForm | None = None) -> dict[str, Any]:
    """The form, where the run has a limit that can be adopted, and what to know of it."""
    profile = run.profile
    can = run.answered and not run.is_active and profile.archived_at is None and bool(limits_of(run.stages))
    return {"adopt_form": (form or AdoptForm(run=run)) if can else None, "adopt_doubts": doubts(run, profile)}
