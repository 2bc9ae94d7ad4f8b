"""The first account, made through the one-time link that the start of the portal prints."""

from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from jobs.asking.fields import said
from jobs.selectors.account import setup_link_open
from jobs.services.account import account_make_first
from jobs.sizing.refusal import Refusal
from jobs.web.forms.account import FirstAccountForm

FIELDS = {"bad_username": "username", "weak_password": "password"}


@login_not_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def setup(request: HttpRequest, token: str) -> HttpResponse:
    if not setup_link_open(token):
        return _void(request)
    form = FirstAccountForm(request.POST or None)
    if request.method != "POST" or not form.is_valid():
        return render(request, "account/setup.html", {"form": form})
    try:
        user = account_make_first(
            token=token, username=form.cleaned_data["username"], password=form.cleaned_data["password"]
        )
    except Refusal as refusal:
        if refusal.code not in FIELDS:
            return _void(request)
        form.add_error(FIELDS[refusal.code], said(refusal))
        return render(request, "account/setup.html", {"form": form})
    login(request, user, backend="django.contrib.auth.backends.ModelBackend")
    return redirect("home")


def _void(request: HttpRequest) -> HttpResponse:
    """Unknown and used look alike."""
    return render(request, "account/setup_used.html", status=404)
