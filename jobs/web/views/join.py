"""An account, made through an invitation's link."""

from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from jobs.asking.fields import said
from jobs.selectors.invitation import invitation_of
from jobs.services.invitation import account_join
from jobs.sizing.refusal import Refusal
from jobs.web.forms.account import JoinForm
from jobs.web.robots import kept_out

FIELDS = {"bad_username": "username", "weak_password": "password"}


@login_not_required
@never_cache
@kept_out
@require_http_methods(["GET", "HEAD", "POST"])
def join(request: HttpRequest, token: str) -> HttpResponse:
    invitation = invitation_of(token)
    if invitation is None:
        return _void(request)
    form = JoinForm(request.POST or None)
    context = {"form": form, "invitation": invitation}
    if request.method != "POST" or not form.is_valid():
        return render(request, "account/join.html", context)
    given = {name: form.cleaned_data[name] for name in ("username", "password", "email")}
    try:
        user = account_join(token=token, **given)
    except Refusal as refusal:
        if refusal.code not in FIELDS:
            return _void(request)
        form.add_error(FIELDS[refusal.code], said(refusal))
        return render(request, "account/join.html", context)
    login(request, user, backend="django.contrib.auth.backends.ModelBackend")
    return redirect("home")


def _void(request: HttpRequest) -> HttpResponse:
    """Unknown, used, revoked and expired look alike."""
    return render(request, "account/join_void.html", status=404)
