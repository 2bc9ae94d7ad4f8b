"""A profile is edited, archived and restored, by its owner or an administrator."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from jobs.asking.fields import said
from jobs.models import Profile
from jobs.selectors.permission import Act
from jobs.services.profile import profile_archive, profile_edit, profile_restore
from jobs.sizing.refusal import Refusal
from jobs.web.forms.profile import profile_form
from jobs.web.permission import refuse_unless
from jobs.web.session import signed_in
from jobs.web.views.profile import profile_found


@require_http_methods(["GET", "HEAD", "POST"])
def edit(request: HttpRequest, pk: int) -> HttpResponse:
    found = _mine(request, pk)
    form = profile_form(found, request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        try:
            profile_edit(profile=found, user=signed_in(request), **form.cleaned_data)
        except Refusal as refusal:
            field = refusal.code.removeprefix("bad_")
            form.add_error(field if field in form.fields else None, said(refusal))
        else:
            messages.success(request, "Saved.")
            return redirect("profile", pk)
    return render(request, "profiles/edit.html", {"nav": "profiles", "profile": found, "form": form})


@require_POST
def archive(request: HttpRequest, pk: int) -> HttpResponse:
    if profile_archive(profile=_mine(request, pk), user=signed_in(request)):
        messages.success(request, "Archived: lists leave it out, and nothing of it is run until it is restored.")
    return redirect("profile", pk)


@require_POST
def restore(request: HttpRequest, pk: int) -> HttpResponse:
    if profile_restore(profile=_mine(request, pk), user=signed_in(request)):
        messages.success(request, "Restored.")
    return redirect("profile", pk)


def _mine(request: HttpRequest, pk: int) -> Profile:
    found = profile_found(pk)
    refuse_unless(request, Act.CHANGE, owners=[found.owner_id])
    return found
